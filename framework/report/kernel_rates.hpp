// Rates of a measured kernel, and whether they can be true.
#pragma once

#include <optional>
#include <string>

#include "report/report.hpp"

namespace halmark::report {

// Matmul FLOP/s and bytes/s of a kernel; nothing without a latency.
std::optional<double> flops_per_s(const KernelPoint& kernel);
std::optional<double> bytes_per_s(const KernelPoint& kernel);

// Why a kernel's figure cannot be true: quarantined, faster than its bound, or above the roof of
// the measured device. Empty when nothing contradicts it.
std::string contradiction(const KernelPoint& kernel, const RunReport& report);

}  // namespace halmark::report
