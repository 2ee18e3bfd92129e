#include "measure/bound_parts.hpp"

#include <algorithm>
#include <array>

namespace halmark {
namespace {

// The share of `bytes` that cannot be served from caches of `capacity` bytes, given that the same
// `working_set` comes round again and again.
double beyond(double bytes, double working_set, double capacity) {
  if (working_set <= 0) return 0;
  return bytes * std::max(0.0, 1.0 - capacity / working_set);
}

std::string named(const std::string& what, int threads) {
  return what + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

}  // namespace

std::vector<BoundPart> bound_parts(const Work& work, const Traffic& traffic, const Device& device,
                                   int threads) {
  static constexpr std::array<const char*, 4> levels{"l1", "l2", "l3", "memory"};
  std::vector<BoundPart> out;
  if (work.matmul_flops > 0) {
    if (const auto peak = device.peak(work.compute_dtype, threads)) {
      const std::string path =
          peak->path.empty() ? std::string(dtype_name(work.compute_dtype)) : peak->path;
      out.push_back(
          {named(path, threads), peak->flops_per_s, work.matmul_flops, true, peak->source});
    }
  }
  const double ring_set = traffic.ring_bytes + traffic.warm_bytes;
  double capacity = 0;
  for (const char* level : levels) {
    const auto bandwidth = device.bandwidth(level, threads);
    if (!bandwidth || bandwidth->bytes_per_s <= 0) continue;
    const double bytes = beyond(traffic.constant_bytes, ring_set, capacity) +
                         beyond(traffic.warm_bytes, traffic.warm_bytes, capacity);
    out.push_back({named(level, threads), bandwidth->bytes_per_s, bytes, false, bandwidth->source});
    capacity += 2.0 * static_cast<double>(bandwidth->working_set_bytes);
  }
  return out;
}

CaseBound case_bound(const KernelCase& kernel_case, const BoundingDevice& bounding) {
  const Problem problem = complete_problem(kernel_case.problem);
  CaseBound out{.work = find_contract(problem.op)->work(problem.params), .parts = {}};
  if (bounding.device == nullptr) return out;
  const int threads = std::max(1, bounding.threads / std::max(1, kernel_case.parts));
  out.parts = bound_parts(out.work, traffic(out.work, kernel_case.mode, kernel_case.sets),
                          *bounding.device, threads);
  return out;
}

}  // namespace halmark
