#include "tune/search/priced_order.hpp"

#include <algorithm>
#include <map>

#include "core/lists.hpp"
#include "search/pareto/pareto.hpp"
#include "tune/search/untried.hpp"

namespace halmark::tune {

namespace {

// Numbers of `members` in the order in which the objectives choose: each in turn the best that is
// left, by itself first, then by those behind it.
std::vector<std::size_t> in_turn(std::span<const Objectives> all,
                                 const std::vector<std::size_t>& members) {
  const std::size_t objectives = all[members.front()].size();
  std::vector<std::vector<std::size_t>> by(objectives, members);
  for (const auto k : indices(objectives)) {
    std::ranges::stable_sort(by[k], {}, [&](std::size_t i) {
      Objectives turned = all[i];
      std::ranges::rotate(turned, turned.begin() + as_int64(k));
      return turned;
    });
  }
  std::vector<std::size_t> out, next(objectives, 0);
  std::vector<bool> is_taken(all.size(), false);
  for (std::size_t k = 0; out.size() < members.size(); k = (k + 1) % objectives) {
    while (is_taken[by[k][next[k]]]) ++next[k];
    out.push_back(by[k][next[k]]);
    is_taken[out.back()] = true;
  }
  return out;
}

std::vector<std::size_t> front_by_front(std::span<const Objectives> all) {
  const std::vector<int> ranks = non_dominated_ranks(all);
  std::map<int, std::vector<std::size_t>> fronts;
  for (const auto i : indices(all)) fronts[ranks[i]].push_back(i);
  std::vector<std::size_t> out;
  for (const auto& [rank, members] : fronts) {
    const std::vector<std::size_t> chosen = in_turn(all, members);
    append_all(out, chosen);
  }
  return out;
}

}  // namespace

std::vector<Point> priced_order(const TuneProblem& problem, Composers& composers,
                                const FirstPeaks& peaks) {
  if (!why_unbounded(problem.objectives()).empty()) return {};
  std::vector<Point> points, impossible;
  std::vector<Objectives> priced;
  for (const std::uint64_t i : below(problem.space().size())) {
    Point point = problem.space().point(i);
    const Composers::Entry& entry = composers.of(problem.at(point));
    if (!entry.composer) {
      impossible.push_back(std::move(point));
      continue;
    }
    const auto bound = step_of(*entry.composer, [&](const KernelCase& k) {
      const double ns = peaks.bound_ns(k);
      return KernelTime{ns, ns, ns, ns, true};
    });
    if (!bound) return {};
    points.push_back(std::move(point));
    priced.push_back(minimised(*bound, problem.objectives()));
  }
  std::vector<Point> out =
      mapped(front_by_front(priced), [&](const std::size_t i) { return points[i]; });
  std::ranges::move(impossible, std::back_inserter(out));
  return out;
}

}  // namespace halmark::tune
