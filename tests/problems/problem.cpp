#include "problem.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace halmark::problems {
namespace {

std::vector<Objectives> complete(const std::vector<Told>& told, std::size_t trials) {
  std::vector<Objectives> out;
  for (std::size_t i = 0; i < std::min(trials, told.size()); ++i) {
    if (told[i].outcome == TrialOutcome::complete) out.push_back(told[i].objectives);
  }
  return out;
}

}  // namespace

double quality(const Problem& problem, const std::vector<Told>& told, std::size_t trials) {
  std::vector<Objectives> points = complete(told, trials);
  if (problem.ideal.empty()) return hypervolume(points, problem.reference);
  for (Objectives& p : points) {
    for (std::size_t d = 0; d < p.size(); ++d) {
      p[d] = (p[d] - problem.ideal[d]) / (problem.nadir[d] - problem.ideal[d]);
    }
  }
  return hypervolume(points, Objectives(problem.ideal.size(), 1.1)) / problem.exact_hypervolume;
}

double best_over_optimum(const Problem& problem, const std::vector<Told>& told,
                         std::size_t trials) {
  double best = std::numeric_limits<double>::infinity();
  for (const Objectives& p : complete(told, trials)) best = std::min(best, p[0]);
  return best / problem.front.front()[0];
}

double front_share(const Problem& problem, const std::vector<Told>& told, std::size_t trials) {
  const std::vector<Objectives> points = complete(told, trials);
  const std::set<Objectives> found(points.begin(), points.end());
  const auto hits =
      std::ranges::count_if(problem.front, [&](const Objectives& p) { return found.contains(p); });
  return static_cast<double>(hits) / static_cast<double>(problem.front.size());
}

std::vector<Told> run(const Problem& problem, const Space& space, Sampler& sampler,
                      std::size_t trials) {
  std::vector<Told> out;
  while (out.size() < trials) {
    const std::vector<Point> points = sampler.ask(1);
    if (points.empty()) break;
    out.push_back(problem.evaluate(space, points.front()));
    sampler.tell({out.back()});
  }
  return out;
}

}  // namespace halmark::problems
