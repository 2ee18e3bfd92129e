#include "roofline/bound_parts.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace halmark {
namespace {

// The share of `bytes` that cannot be served from caches of `capacity` bytes, given that the same
// `working_set` comes round again and again.
double beyond(double bytes, double working_set, double capacity) {
  if (working_set <= 0) return 0;
  return bytes * std::max(0.0, 1.0 - capacity / working_set);
}

std::string named(const std::string& what, int threads, int shards) {
  const std::string share = shards > 1 ? " shared by " + std::to_string(shards) + " shards" : "";
  return what + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads") + share;
}

// The best that `threads` threads were seen to do. More of them can do at least what fewer did: a
// probe that scaled badly (threads of one core that share its matrix unit) is no ceiling.
template <class Find, class Rate>
auto ceiling(const Find& find, Rate rate, int threads) {
  auto best = find(threads);
  for (int fewer = 1; best && fewer < threads; ++fewer) {
    const auto other = find(fewer);
    if (other && (*other).*rate > (*best).*rate) best = other;
  }
  return best;
}

}  // namespace

std::vector<BoundPart> bound_parts(const Work& work, const Traffic& traffic, const Device& device,
                                   int threads, int shards) {
  static constexpr std::array<const char*, 4> levels{"l1", "l2", "l3", "memory"};
  std::vector<BoundPart> out;
  const auto peak_of = [&](int n) { return device.peak(work.compute_dtype, n); };
  if (work.matmul_flops > 0) {
    if (const auto peak = ceiling(peak_of, &Peak::flops_per_s, threads * shards)) {
      const std::string path =
          peak->path.empty() ? std::string(dtype_name(work.compute_dtype)) : peak->path;
      out.push_back({named(path, peak->threads, shards), peak->flops_per_s / shards,
                     work.matmul_flops, true, peak->source});
    }
  }
  const double ring_set = traffic.ring_bytes + traffic.warm_bytes;
  double capacity = 0;
  for (const char* level : levels) {
    const auto bandwidth_of = [&](int n) { return device.bandwidth(level, n); };
    const auto near = bandwidth_of(threads);
    const auto bandwidth = ceiling(bandwidth_of, &Bandwidth::bytes_per_s, threads * shards);
    if (!bandwidth || bandwidth->bytes_per_s <= 0) continue;
    const double bytes = beyond(traffic.constant_bytes, ring_set, capacity) +
                         beyond(traffic.warm_bytes, traffic.warm_bytes, capacity);
    out.push_back({named(level, bandwidth->threads, shards), bandwidth->bytes_per_s / shards, bytes,
                   false, bandwidth->source});
    capacity += 2.0 * static_cast<double>(near->working_set_bytes);
  }
  return out;
}

CaseBound case_bound(const KernelCase& kernel_case, const BoundingDevice& bounding) {
  const Problem problem = complete_problem(kernel_case.problem);
  CaseBound out{.work = find_contract(problem.op)->work(problem.params), .parts = {}};
  if (bounding.device == nullptr) return out;
  const int threads = std::max(1, bounding.threads / std::max(1, kernel_case.parts));
  const Traffic moved = traffic(out.work, kernel_case.mode, kernel_case.sets);
  out.parts = bound_parts(out.work, moved, *bounding.device, threads);
  if (kernel_case.shards_at_once > 1) {
    // A sample of several shards begins at one barrier and ends with the slowest: by then the work
    // of all has passed under the ceilings that they share.
    std::ranges::move(
        bound_parts(out.work, moved, *bounding.device, threads, kernel_case.shards_at_once),
        std::back_inserter(out.parts));
  }
  return out;
}

}  // namespace halmark
