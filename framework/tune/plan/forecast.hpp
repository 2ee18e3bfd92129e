// Looks ahead of a measured sweep: what its kernels will cost, and what to leave out of a grid that
// the budget does not cover.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tune/plan/plan.hpp"

namespace halmark::tune {

// Configurations whose graphs are built to know the cost of all; beyond, only the first batch is.
inline constexpr std::uint64_t forecast_configurations_max = 4096;
// Configurations that a sampler other than a grid has measured together.
inline constexpr std::size_t measured_batch = 8;

Forecast forecast_of(const TunePlan& plan);
// Of measuring each of these kernels alone, all rounds.
std::vector<double> case_seconds(const TunePlan& plan, std::span<const KernelCase> kernels);

struct Trimmed {
  std::vector<TuneProblem> problems;  // with what is left out as a constraint
  std::vector<std::string> left_out;  // "prefill batch 4 f32: would take 31 s of measuring"
};
// Whole workloads of one batch and precision, the most expensive ones first (plan/trim.hpp).
Trimmed trim_to_budget(const TunePlan& plan);

}  // namespace halmark::tune
