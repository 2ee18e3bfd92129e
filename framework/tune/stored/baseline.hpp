// What kernels are scored against: the same problems on another backend or by another kernel,
// measured beside them in the same rounds.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/kernel_case.hpp"
#include "report/report.hpp"

namespace halmark::tune {

struct Baseline {
  std::string backend, kernel;  // kernel: "" = the backend's own choice
};

// "cpu" or "cpu:gemm_onednn". Throws Error (exit 2) for another form.
Baseline parse_baseline(const std::string& text);

// The cases as the baseline runs them, each problem and place once.
std::vector<KernelCase> baseline_cases(std::span<const KernelCase> cases, const Baseline& baseline);

// Both, a case that is its own baseline once.
std::vector<KernelCase> joined(std::vector<KernelCase> cases, std::span<const KernelCase> baseline);

// Scores each point against the baseline's of the same problem, with the reason where one of the
// three times is unknown.
void score_points(std::span<KernelPoint> points, std::span<const KernelPoint> baseline);

// The same where the baseline's own points are among them, by its cases.
void score_beside(std::span<KernelPoint> points, std::span<const KernelCase> baseline);

}  // namespace halmark::tune
