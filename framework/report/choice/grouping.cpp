#include "report/choice/grouping.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/lists.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

struct Range {
  double low = 0, high = 0;
};

// What the sources of the times leave open; nothing where they state no spread.
std::optional<Range> range_of(const Evaluation& e, Objective objective) {
  if (e.served && e.served->has_interval) {
    const auto of_requests = row_of(objective).of_requests;
    if (of_requests == nullptr) return std::nullopt;
    const auto fast = of_requests(e.served->fast), slow = of_requests(e.served->slow);
    if (!fast || !slow) return std::nullopt;
    return Range{std::min(*fast, *slow), std::max(*fast, *slow)};
  }
  if (e.estimate && objective == Objective::latency && e.estimate->low_ns < e.estimate->high_ns) {
    return Range{e.estimate->low_ns, e.estimate->high_ns};
  }
  return std::nullopt;
}

bool is_alike(const Evaluation& a, const Evaluation& b, Objective objective, double share) {
  const auto x = objective_value(a, objective), y = objective_value(b, objective);
  if (!x || !y) return x.has_value() == y.has_value();
  const double smaller = std::min(std::abs(*x), std::abs(*y));
  if (*x == *y || std::abs(*x - *y) < share * smaller) return true;
  const auto of_a = range_of(a, objective), of_b = range_of(b, objective);
  return of_a && of_b && of_a->low <= of_b->high && of_b->low <= of_a->high;
}

}  // namespace

std::vector<PointGroup> group_points(std::span<const Evaluation> points,
                                     std::span<const Objective> objectives, double share) {
  std::vector<const Evaluation*> addresses =
      mapped(points, [&](const Evaluation& e) { return &e; });
  return group_points(addresses, objectives, share);
}

std::vector<PointGroup> group_points(std::span<const Evaluation* const> points,
                                     std::span<const Objective> objectives, double share) {
  std::vector<PointGroup> out;
  for (const auto i : indices(points)) {
    auto* group = find_or_null(out, true, [&](const PointGroup& g) {
      return std::ranges::all_of(objectives, [&](Objective o) {
        return is_alike(*points[g.representative], *points[i], o, share);
      });
    });
    if (!group) {
      out.push_back({i, {}});
    } else {
      group->others.push_back(i);
    }
  }
  return out;
}

std::string alike_text(std::span<const PointGroup> groups) {
  std::size_t others = 0;
  for (const PointGroup& g : groups) others += g.others.size();
  if (others == 0) return {};
  return "and " + std::to_string(others) +
         (others == 1 ? " that hardly differs" : " that hardly differ") + " from these (within " +
         number_text(100 * alike_share) + " % or within their doubt): halmark export lists them";
}

}  // namespace halmark
