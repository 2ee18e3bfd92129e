#include "roofline/utilisation.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "roofline/bound_parts.hpp"

namespace halmark {
namespace {

std::string percent(double ratio) {
  char text[32];
  const auto end =
      std::to_chars(text, text + sizeof text, ratio * 100, std::chars_format::fixed, 1);
  return std::string(text, end.ptr) + " %";
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
  if (work.matmul_flops > 0 && !device.peak(work.compute_dtype, threads)) {
    bound.reason = "no measured peak for " + std::string(dtype_name(work.compute_dtype));
  }
  for (const BoundPart& part : bound_parts(work, traffic, device, threads)) {
    double& ns = part.is_operations ? bound.compute_ns : bound.memory_ns;
    ns = std::max(ns, part.amount / part.per_s * 1e9);
  }
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
