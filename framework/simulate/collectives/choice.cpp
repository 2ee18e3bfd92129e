// Why a collective is done the way it is.
#include <fmt/format.h>

#include <algorithm>

#include "simulate/collectives/cost.hpp"

namespace halmark::simulate {
namespace {

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  return fmt::format("{:.4g} ms", seconds * 1e3);
}

std::string way_text(const CollectiveTime& time) {
  const std::string_view name = algorithm_name(time.algorithm);
  return time.protocol.empty() ? std::string(name) : fmt::format("{}, {}", name, time.protocol);
}

}  // namespace

ChosenCollective best_collective(Collective collective, double bytes, const FabricLevels& fabric) {
  const std::vector<CollectiveTime> times = collective_times(collective, bytes, fabric);
  if (times.empty()) return {.reason = "one rank: nothing moves"};
  const CollectiveTime& best = times.front();
  const bool waits = best.latency_s > best.transfer_s;
  std::string reason = fmt::format(
      "{}: {}, {} ({:.0f} %)", way_text(best), time_text(best.seconds()),
      waits ? "latency" : "bandwidth",
      100 * std::max(best.latency_s, best.transfer_s) / std::max(best.seconds(), 1e-300));
  // The next best by another algorithm says more than another protocol of the same.
  const auto other = std::ranges::find_if(
      times, [&](const CollectiveTime& t) { return t.algorithm != best.algorithm; });
  if (other != times.end()) {
    reason +=
        fmt::format("; {} would take {} (+{:.0f} %)", way_text(*other), time_text(other->seconds()),
                    100 * (other->seconds() / std::max(best.seconds(), 1e-300) - 1));
  }
  return {.time = best,
          .bound_s = collective_bound_s(collective, bytes, fabric),
          .reason = std::move(reason)};
}

}  // namespace halmark::simulate
