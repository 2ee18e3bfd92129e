// Trims a sweep to its measuring budget before it starts: whole groups are left out, most_expensive
// first, what still fits comes back, and each one that stays out is named. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halmark {

// Points that stand or fall together, for example one batch and dtype of one workload.
struct TrimGroup {
  std::string name;                   // "prefill batch 4 f32"
  std::string keep_class;             // the last group of a class is never left out: "prefill"
  std::vector<std::int32_t> kernels;  // indices into the kernel costs; kernels are shared by groups
};

struct TrimResult {
  std::vector<bool> is_kept;          // per group
  std::vector<std::string> left_out;  // "prefill batch 4 f32: would take 31 s of measuring"
  double seconds = 0;                 // predicted for what is kept
};

// `kernel_seconds`: all rounds of each kernel. `fixed_seconds`: process starts and the like.
TrimResult trim_to_budget(const std::vector<TrimGroup>& groups,
                          const std::vector<double>& kernel_seconds, double fixed_seconds,
                          double budget_seconds);

}  // namespace halmark
