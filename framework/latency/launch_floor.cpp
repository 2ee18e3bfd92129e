#include "latency/launch_floor.hpp"

#include <algorithm>
#include <vector>

#include "core/lists.hpp"
#include "kernels/contract.hpp"

namespace halmark {

namespace {

constexpr std::size_t points_min = 20, ignored_share = 100;

bool waits_for_others(const LatencyPoint& point) {
  const OpContract* contract = find_contract(point.problem.op);
  return contract != nullptr && contract->is_collective();
}

}  // namespace

void LaunchFloor::add(std::span<const LatencyPoint> series) {
  if (series.size() < points_min || waits_for_others(series.front())) return;
  std::vector<double> times = mapped(series, &LatencyPoint::ns);
  const auto at = times.begin() + as_int64(times.size() / ignored_share);
  std::ranges::nth_element(times, at);
  ns_ = ns_ == 0 ? *at : std::min(ns_, *at);
}

}  // namespace halmark
