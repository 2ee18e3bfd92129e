// The last of the chain. Its estimate sums cold and warm bytes, which no proof allows, so its own
// figure is never quarantined; the bound beside it is the one that all other sources are held to.
#include "latency/roofline_source.hpp"

#include <algorithm>

namespace halmark {

RooflineSource::RooflineSource(const Device& device, std::optional<double> network_bytes_per_s,
                               double launch_floor_ns)
    : ceilings_(device, 0, 1, network_bytes_per_s),
      rates_(device, {}, network_bytes_per_s),
      launch_floor_ns_(launch_floor_ns) {}

std::optional<Latency> RooflineSource::latency(const Problem& problem, const Work& work) const {
  const std::int64_t ranks = work.transfer_bytes > 0 ? problem.params.value_or("ranks", 1) : 1;
  const auto estimate_ns = rates_.ns(work, ranks);
  if (!estimate_ns) return std::nullopt;
  const roofline::Bound bound = roofline::step_bound(problem, work, ceilings_);
  Latency out;
  out.lower_bound_ns = bound.ns();
  out.limiter = bound.limiter();
  // Element-wise work has no provable bound; what it takes are its bytes.
  if (out.limiter == Limiter::unknown && work.matmul_flops <= 0 && work.bytes() > 0) {
    out.limiter = work.transfer_bytes > 0 ? Limiter::communication : Limiter::memory;
  }
  // They differ in this direction only where a device states a farther cache as the faster one.
  out.ns = out.low_ns = out.high_ns =
      std::max({*estimate_ns, out.lower_bound_ns, launch_floor_ns_});
  return out;
}

}  // namespace halmark
