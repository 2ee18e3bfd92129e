#include "search/samplers/selection.hpp"

#include <algorithm>
#include <limits>
#include <queue>

#include "core/lists.hpp"
#include "search/surrogate/improvement.hpp"

namespace halmark {
namespace {

std::vector<std::size_t> by_crowding(std::span<const Objectives> points, std::size_t count) {
  const std::vector<int> ranks(points.size(), 0);
  const std::vector<double> distance = crowding_distances(points, ranks);
  std::vector<std::size_t> order(points.size());
  for (const auto i : indices(order)) order[i] = i;
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t i) { return distance[i]; });
  order.resize(std::min(count, order.size()));
  return order;
}

// Lazily greedy: a gain only shrinks while points are taken, so an old one is a bound.
std::vector<std::size_t> by_gain(std::span<const Objectives> points, std::size_t count) {
  const Objectives reference = reference_beyond(points);
  struct Claim {
    double gain;
    std::size_t index, taken;  // how many were taken when the gain was computed
    bool operator<(const Claim& other) const {
      return gain != other.gain ? gain < other.gain : index > other.index;
    }
  };
  std::priority_queue<Claim> claims;
  OpenRegion open({}, reference);
  for (const auto i : indices(points)) claims.push({open.gain(points[i]), i, 0});
  std::vector<std::size_t> out;
  std::vector<Objectives> taken;
  while (out.size() < count && !claims.empty()) {
    Claim best = claims.top();
    claims.pop();
    if (best.taken == out.size()) {
      out.push_back(best.index);
      taken.push_back(points[best.index]);
      open = OpenRegion(taken, reference);
      continue;
    }
    best.gain = open.gain(points[best.index]);
    best.taken = out.size();
    claims.push(best);
  }
  return out;
}

bool is_finite(const Objectives& p) {
  return std::ranges::all_of(
      p, [](double x) { return std::abs(x) < std::numeric_limits<double>::infinity(); });
}

}  // namespace

Objectives reference_beyond(std::span<const Objectives> points) {
  Objectives out(points.front().size());
  for (const auto m : indices(out)) {
    const auto by = [&](const Objectives& p) { return p[m]; };
    const double low = std::ranges::min(points, {}, by)[m];
    const double high = std::ranges::max(points, {}, by)[m];
    out[m] = high > low ? high + 0.1 * (high - low) : high + 1;
  }
  return out;
}

std::vector<std::size_t> best_points(std::span<const Objectives> points, std::size_t count) {
  std::vector<std::size_t> out, left;
  for (const auto i : indices(points)) left.push_back(i);
  while (out.size() < count && !left.empty()) {
    std::vector<Objectives> rest = mapped(left, [&](const std::size_t i) { return points[i]; });
    const std::vector<std::size_t> front = non_dominated(rest);
    std::vector<Objectives> members = mapped(front, [&](const std::size_t k) { return rest[k]; });
    const std::size_t wanted = count - out.size();
    const bool has_regions = members.front().size() <= 3 && std::ranges::all_of(members, is_finite);
    for (const std::size_t k :
         has_regions ? by_gain(members, wanted) : by_crowding(members, wanted)) {
      out.push_back(left[front[k]]);
    }
    std::vector<bool> is_taken(left.size(), false);
    for (const std::size_t k : front) is_taken[k] = true;
    std::vector<std::size_t> next;
    for (const auto k : indices(left)) {
      if (!is_taken[k]) next.push_back(left[k]);
    }
    left = std::move(next);
  }
  return out;
}

}  // namespace halmark
