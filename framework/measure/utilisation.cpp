#include "measure/utilisation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace halmark {
namespace {

std::string percent(double ratio) {
  char text[32];
  const auto end =
      std::to_chars(text, text + sizeof text, ratio * 100, std::chars_format::fixed, 1);
  return std::string(text, end.ptr) + " %";
}

// The share of `bytes` that cannot be served from caches of `capacity` bytes, given that the same
// `working_set` comes round again and again.
double beyond(double bytes, double working_set, double capacity) {
  if (working_set <= 0) return 0;
  return bytes * std::max(0.0, 1.0 - capacity / working_set);
}

double memory_bound_ns(const Traffic& traffic, const Device& device, int threads) {
  static constexpr std::array<std::string_view, 4> levels{"l1", "l2", "l3", "memory"};
  const double ring_set = traffic.ring_bytes + traffic.warm_bytes;
  double capacity = 0;
  double bound_s = 0;
  for (const std::string_view level : levels) {
    const auto bandwidth = device.bandwidth(level, threads);
    if (!bandwidth || bandwidth->bytes_per_s <= 0) continue;
    const double bytes = beyond(traffic.constant_bytes, ring_set, capacity) +
                         beyond(traffic.warm_bytes, traffic.warm_bytes, capacity);
    bound_s = std::max(bound_s, bytes / bandwidth->bytes_per_s);
    capacity += 2.0 * static_cast<double>(bandwidth->working_set_bytes);
  }
  return bound_s * 1e9;
}

void fill_mfu(const Work& work, const Device* measured, const Device* datasheet,
              std::string_view isa, int threads, Utilisation& result) {
  if (work.matmul_flops <= 0) {
    result.mfu_reason = "no matmul FLOPs";
    return;
  }
  if (measured == nullptr) {
    result.mfu_reason = "no measured peaks";
  } else if (const auto peak = measured->peak(work.compute_dtype, threads)) {
    result.mfu = result.flops_per_s / peak->flops_per_s;
  } else {
    result.mfu_reason = "no measured peak for " + std::string(dtype_name(work.compute_dtype));
  }
  if (measured != nullptr && !isa.empty()) {
    if (const auto path = measured->path_peak(work.compute_dtype, isa, threads)) {
      result.path_fraction = result.flops_per_s / path->flops_per_s;
    }
  }
  if (datasheet != nullptr) {
    if (const auto stated = datasheet->peak(work.compute_dtype, threads)) {
      result.mfu_datasheet = result.flops_per_s / stated->flops_per_s;
    }
  }
}

}  // namespace

Traffic traffic(const Work& work, CacheMode mode, int sets) {
  const double constant = std::min(work.constant_bytes, work.bytes());
  const double warm = work.bytes() - constant;
  switch (mode) {
    case CacheMode::hot:
      return {.constant_bytes = 0, .warm_bytes = work.bytes(), .ring_bytes = 0};
    case CacheMode::rotate_const:
      return {.constant_bytes = constant, .warm_bytes = warm, .ring_bytes = constant * sets};
    case CacheMode::rotate_all:
    case CacheMode::flush:
      return {.constant_bytes = work.bytes(), .warm_bytes = 0, .ring_bytes = work.bytes() * sets};
  }
  return {};
}

double LowerBound::ns() const { return std::max(compute_ns, memory_ns); }

std::string_view LowerBound::bound() const {
  if (compute_ns <= 0 && memory_ns <= 0) return "";
  return compute_ns >= memory_ns ? "compute" : "memory";
}

LowerBound lower_bound(const Work& work, const Traffic& traffic, const Device& device,
                       int threads) {
  LowerBound bound;
  if (work.matmul_flops > 0) {
    if (const auto peak = device.peak(work.compute_dtype, threads)) {
      bound.compute_ns = work.matmul_flops / peak->flops_per_s * 1e9;
    } else {
      bound.reason = "no measured peak for " + std::string(dtype_name(work.compute_dtype));
    }
  }
  bound.memory_ns = memory_bound_ns(traffic, device, threads);
  if (device.bandwidths.empty()) bound.reason = "no measured bandwidth";
  return bound;
}

Utilisation utilisation(const Work& work, const Traffic& traffic, const Device* measured,
                        const Device* datasheet, std::string_view isa, int threads,
                        double duration_ns) {
  Utilisation result;
  result.flops_per_s = work.matmul_flops / duration_ns * 1e9;
  result.bytes_per_s = work.bytes() / duration_ns * 1e9;
  fill_mfu(work, measured, datasheet, isa, threads, result);
  if (measured == nullptr) return result;
  const LowerBound bound = lower_bound(work, traffic, *measured, threads);
  if (bound.ns() <= 0) return result;
  result.lower_bound_ns = bound.ns();
  result.bound = bound.bound();
  result.roofline_fraction = bound.ns() / duration_ns;
  if (*result.roofline_fraction > quarantine_ratio) {
    result.quarantine = "faster_than_roofline: " + percent(*result.roofline_fraction) + " of the " +
                        result.bound + " bound";
  }
  return result;
}

Utilisation utilisation(const KernelCase& kernel_case, const Device* measured,
                        const Device* datasheet, std::string_view isa, int threads,
                        double duration_ns) {
  const Problem problem = complete_problem(kernel_case.problem);
  const Work work = find_contract(problem.op)->work(problem.params);
  return utilisation(work, traffic(work, kernel_case.mode, kernel_case.sets), measured, datasheet,
                     isa, threads, duration_ns);
}

}  // namespace halmark
