#include "tune/search/priced/priced_search.hpp"

#include <algorithm>

#include "core/text/error.hpp"
#include "tune/search/front.hpp"
#include "tune/search/loop.hpp"

namespace halmark::tune {

namespace {

constexpr std::size_t batch_trials = 64;

}  // namespace

RunReport search_steps(const TunePlan& plan, const LatencyChain& latencies,
                       const std::function<bool()>& should_stop, bool bounds_compete,
                       const PricedExtras& extras) {
  RunReport out;
  out.title = plan.sweep().name;
  out.model = plan.spec().id;
  PricedEvaluator evaluator(plan.spec(), plan.target(), latencies, extras.engine);
  for (const TuneProblem& problem : plan.problems()) {
    const auto sampler = sampler_for(plan, problem);
    tune::run(
        problem, *sampler, evaluator,
        {.budget = {.trials = static_cast<std::size_t>(plan.sweep().trials), .batch = batch_trials},
         .should_stop = should_stop,
         .steering = extras.steering},
        [&](const Point&, const Evaluation& e, const TrialTime& time) {
          out.evaluations.push_back(e);
          if (extras.times != nullptr) extras.times->emplace(e.configuration.key(), time);
        });
  }
  // In an order of their own, whoever proposed them.
  std::ranges::sort(out.evaluations, {}, &Evaluation::configuration);
  for (const Objective o : plan.sweep().objectives) out.objectives.emplace_back(objective_name(o));
  for (const std::size_t i : step_front(out.evaluations, plan.sweep().objectives, bounds_compete)) {
    out.front.push_back({.evaluation = i, .is_suspect = false, .ties = {}});
  }
  const bool is_stopped = should_stop && should_stop();
  if (out.front.empty() && !is_stopped) {
    throw Error(ExitCode::gate_failed,
                "no configuration of this sweep fits on " + plan.target().datasheet->id,
                plan.sweep().file, out.evaluations.empty() ? "" : out.evaluations.front().reason);
  }
  return out;
}

}  // namespace halmark::tune
