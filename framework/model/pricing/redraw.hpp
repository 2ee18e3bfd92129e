// Joint redraws of kernel latencies: what else the same processes might have shown.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/pricing/step_sum.hpp"

namespace halmark {

// Of each kernel the median of as many of its process medians (ns), drawn with replacement
// (Efron 1979). Deployments that share a kernel share its draw: their separate intervals would
// overstate the doubt between them. A kernel without a process has no time. A function of (seed,
// draw).
std::vector<KernelTime> redraw(std::span<const std::vector<double>> process_medians_ns,
                               std::uint64_t seed, std::uint64_t draw);

}  // namespace halmark
