#include "report/kernel_rates.hpp"

#include <algorithm>

#include "core/text/units.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {
namespace {

constexpr double contradiction_ratio = 1.02;

// Highest FLOP/s that the measured device allows for this kernel: its dtype's peak, or the fastest
// memory level at its intensity. Nothing when neither is known.
std::optional<double> roof_flops_per_s(const KernelPoint& kernel, const Device& device) {
  std::optional<double> roof;
  for (const Peak& peak : device.peaks) {
    if (dtype_name(peak.dtype) == kernel.dtype) {
      roof = std::max(roof.value_or(0), peak.flops_per_s);
    }
  }
  double fastest = 0;
  for (const Bandwidth& level : device.bandwidths) fastest = std::max(fastest, level.bytes_per_s);
  if (fastest > 0 && kernel.bytes > 0) {
    const double slope = fastest * kernel.matmul_flops / kernel.bytes;
    roof = roof ? std::min(*roof, slope) : slope;
  }
  return roof;
}

}  // namespace

std::optional<double> flops_per_s(const KernelPoint& kernel) {
  if (!kernel.duration_ns || !(*kernel.duration_ns > 0) || !(kernel.matmul_flops > 0)) {
    return std::nullopt;
  }
  return kernel.matmul_flops / *kernel.duration_ns * ns_per_s;
}

std::optional<double> bytes_per_s(const KernelPoint& kernel) {
  if (!kernel.duration_ns || !(*kernel.duration_ns > 0) || !(kernel.bytes > 0)) return std::nullopt;
  return kernel.bytes / *kernel.duration_ns * ns_per_s;
}

std::string contradiction(const KernelPoint& kernel, const RunReport& report) {
  if (kernel.status == Status::quarantined) {
    return kernel.reason.empty() ? std::string("quarantined") : kernel.reason;
  }
  if (!kernel.duration_ns || !(*kernel.duration_ns > 0)) return {};
  const double above_bound = kernel.lower_bound_ns / *kernel.duration_ns;
  if (above_bound > contradiction_ratio) {
    return "faster than its bound by " + percent_text(above_bound - 1);
  }
  const auto rate = flops_per_s(kernel);
  if (!rate || !report.device) return {};
  const auto roof = roof_flops_per_s(kernel, *report.device);
  if (roof && *rate > *roof * contradiction_ratio) {
    return "above the roof of " + flops_text(*roof) + " by " + percent_text(*rate / *roof - 1);
  }
  return {};
}

}  // namespace halmark::report
