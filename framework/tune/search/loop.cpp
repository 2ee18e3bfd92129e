// A batch is evaluated in the order of its points, whatever order they were proposed in: neighbours
// have kernels and layouts in common. The sampler is told in its own order.
#include "tune/search/loop.hpp"

#include <algorithm>

#include "core/lists.hpp"

namespace halmark::tune {

std::vector<TimedEvaluation> evaluate_points(const TuneProblem& problem, Evaluator& evaluator,
                                             const std::vector<Point>& points) {
  auto order = mapped(indices(points), std::identity());
  std::ranges::sort(order, {}, [&](std::size_t i) -> const Point& { return points[i]; });
  std::vector<Configuration> configurations =
      mapped(order, [&](const std::size_t i) { return problem.at(points[i]); });
  const auto began = std::chrono::system_clock::now();
  std::vector<Evaluation> in_order = evaluator.evaluate(configurations);
  const TrialTime together = {began, std::chrono::system_clock::now()};
  const std::vector<TrialTime> times = evaluator.times();
  std::vector<TimedEvaluation> out(points.size());
  for (const auto k : indices(order)) {
    out[order[k]] = {std::move(in_order[k]), times.empty() ? together : times[k]};
  }
  return out;
}

Told told_of(const TuneProblem& problem, const Point& point, const Evaluation& evaluation) {
  Told out{.point = point};
  const auto objectives = minimised(evaluation, problem.objectives());
  if (!objectives) {
    out.outcome = TrialOutcome::failed;
    out.reason = evaluation.reason;
    if (out.reason.empty() && evaluation.estimate) out.reason = evaluation.estimate->energy_reason;
    return out;
  }
  out.objectives = *objectives;
  for (const ServiceViolation& missed : violations(evaluation, problem.levels())) {
    out.outcome = TrialOutcome::infeasible;
    out.violations.push_back(missed.amount() / missed.limit);
    if (out.reason.empty()) out.reason = missed.text();
  }
  return out;
}

SearchResult run(const TuneProblem& problem, Sampler& sampler, Evaluator& evaluator,
                 const LoopOptions& options, const Sink& sink) {
  if (options.steering != nullptr) {
    return options.steering->run(problem, evaluator, options, sink);
  }
  return run_search(sampler, options.budget,
                    {.evaluate =
                         [&](const std::vector<Point>& points) {
                           const std::vector<TimedEvaluation> evaluations =
                               evaluate_points(problem, evaluator, points);
                           std::vector<Told> out;
                           for (const auto i : indices(points)) {
                             const auto& [evaluation, time] = evaluations[i];
                             out.push_back(told_of(problem, points[i], evaluation));
                             sink(points[i], evaluation, time);
                           }
                           return out;
                         },
                     .should_stop = options.should_stop});
}

}  // namespace halmark::tune
