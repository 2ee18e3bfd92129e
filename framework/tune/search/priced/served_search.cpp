#include "tune/search/priced/served_search.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "search/pareto/pareto.hpp"
#include "tune/search/loop.hpp"
#include "tune/search/priced/least_fit.hpp"

namespace halmark::tune {

namespace {

constexpr std::size_t nearest_max = 20;
// Trials between two looks at whether somebody wants to stop.
constexpr std::size_t served_batch_trials = 256, progress_trials = 4096;

// A figure that nobody states can be no objective and no limit.
void require_figures(const TunePlan& plan, const ServedCosts& costs) {
  const Device& device = *plan.target().datasheet;
  const auto check = [&](Objective objective, const std::string& where) {
    if (objective == Objective::energy && !device.power_w) {
      throw refused("device " + device.id + " states no power for energy", where,
                    "leave energy out, or name a device file with power_w");
    }
    if (objective == Objective::cost && !costs.usd_per_device_hour) {
      throw refused("cost is wanted, but no price is given", where, "add usd_per_device_hour");
    }
    if (objective == Objective::interactivity && plan.sweep().served->request.output_tokens < 2) {
      throw refused("interactivity is the rate of tokens after the first, and none follows", where,
                    "ask for output_tokens of 2 or more, or leave interactivity out");
    }
  };
  const TuneProblem& problem = plan.problems().front();
  for (const Objective o : problem.objectives()) check(o, plan.sweep().file);
  for (const ServiceLevel& level : problem.levels()) check(level.objective, level.where);
}

double factor(const ServiceViolation& v) {
  return v.value > v.limit ? v.value / v.limit : v.limit / v.value;
}

// What the loop leaves behind: the configurations that keep all levels, the nearest of the others,
// and counts of why the rest is out.
class Found {
 public:
  Found(const TuneProblem& problem, ServedReport& report) : problem_(problem), report_(report) {}

  void take(const Evaluation& e, const TrialTime& time) {
    ++report_.configurations;
    if (report_.tried.size() < ServedReport::tried_max) {
      report_.tried.push_back(e);
      tried_times_.push_back(time);
    }
    if (!e.served) return count_refusal(e);
    if (auto missed = violations(e, problem_.levels()); !missed.empty()) {
      ++report_.missed;
      ++report_.missed_by[missed.front().objective];
      return keep_nearest({e.configuration, *e.served, std::move(missed)});
    }
    const auto objectives = minimised(e, problem_.objectives());
    if (!objectives) return;
    points_.push_back(*objectives);
    kept_.push_back({.configuration = e.configuration, .estimate = *e.served});
    kept_times_.push_back(time);
  }

  // Of what is stored of the search: the front, and what was tried first.
  void give_times(TrialTimes& to) const {
    for (const std::size_t k : non_dominated(points_)) {
      to.emplace(kept_[k].configuration.key(), kept_times_[k]);
    }
    for (const auto i : indices(report_.tried)) {
      to.emplace(report_.tried[i].configuration.key(), tried_times_[i]);
    }
  }

  // By the first objective.
  std::vector<ServedPoint> front() const {
    std::vector<std::size_t> members = non_dominated(points_);
    std::ranges::stable_sort(members, {}, [&](std::size_t k) { return points_[k]; });
    return mapped(members, [&](const std::size_t k) { return kept_[k]; });
  }

 private:
  void count_refusal(const Evaluation& e) {
    if (++report_.refused[e.refusal] == 1) {
      report_.examples[e.refusal] = e.configuration.key() + ": " + e.reason;
    }
  }

  void keep_nearest(MissedPoint point) {
    std::vector<MissedPoint>& nearest = report_.nearest;
    const auto is_nearer = [](const MissedPoint& a, const MissedPoint& b) {
      return factor(a.violations.front()) < factor(b.violations.front());
    };
    if (nearest.size() == nearest_max && !is_nearer(point, nearest.back())) return;
    nearest.insert(std::ranges::upper_bound(nearest, point, is_nearer), std::move(point));
    if (nearest.size() > nearest_max) nearest.pop_back();
  }

  const TuneProblem& problem_;
  ServedReport& report_;
  std::vector<Objectives> points_;
  std::vector<ServedPoint> kept_;
  std::vector<TrialTime> kept_times_, tried_times_;
};

// Tokens that are stepped over for what is printed: below a second.
constexpr double tokens_max = 8e6;

// Aggregated engines are simulated request by request, in the order given, as long as there is
// room.
class Events {
 public:
  Events(ServedEvaluator& evaluator, const ServedCosts& costs)
      : evaluator_(evaluator), waves_(costs.engine->waves) {}

  // The formula's answer where it is left standing.
  Evaluation of(const Configuration& c, const ServedEstimate& by_formula) {
    if (c.served->mode == ServingMode::aggregated && takes(c)) return evaluator_.by_events(c);
    ++by_formula_;
    return {.configuration = c, .served = by_formula};
  }
  std::size_t by_formula() const { return by_formula_; }

 private:
  bool takes(const Configuration& c) {
    const double engines = c.parallel.dp * c.parallel.pp;
    const double tokens = waves_ * as_double(c.served->concurrency) / engines *
                          as_double(c.served->request.output_tokens);
    if (tokens > left_) return false;
    left_ -= tokens;
    return true;
  }

  ServedEvaluator& evaluator_;
  double waves_, left_ = tokens_max;
  std::size_t by_formula_ = 0;
};

// So few that all are simulated.
bool is_small(const TunePlan& plan, const ServedCosts& costs) {
  const auto& served = *plan.sweep().served;
  const double tokens = as_double(plan.configurations()) * costs.engine->waves *
                        as_double(std::ranges::max(served.concurrency)) *
                        as_double(served.request.output_tokens);
  return tokens <= tokens_max && std::ranges::count(served.modes, ServingMode::disaggregated) == 0;
}

// The formula is 12 to 30 % off in TTFT (serve_benchmark), so what nearly keeps the levels may keep
// them, and the reverse.
constexpr double nearly = 1.3;

// What is printed has the figures of the events: the front is searched again among the formula's
// front and what nearly keeps the levels.
void settle(const TuneProblem& problem, ServedEvaluator& evaluator, const ServedCosts& costs,
            ServedReport& out) {
  Events events(evaluator, costs);
  ServedReport settled;
  Found found(problem, settled);
  for (const ServedPoint& p : out.front) found.take(events.of(p.configuration, p.estimate), {});
  const auto far = std::ranges::find_if(
      out.nearest, [](const MissedPoint& p) { return factor(p.violations.front()) > nearly; });
  for (auto p = out.nearest.begin(); p != far; ++p) {
    --out.missed;
    --out.missed_by[p->violations.front().objective];
    found.take(events.of(p->configuration, p->estimate), {});
  }
  out.missed += settled.missed;
  for (const auto& [objective, count] : settled.missed_by) out.missed_by[objective] += count;
  std::erase_if(out.missed_by, [](const auto& one) { return one.second == 0; });
  std::ranges::move(far, out.nearest.end(), std::back_inserter(settled.nearest));
  out.nearest = std::move(settled.nearest);
  out.front = found.front();
  out.by_formula = events.by_formula();
}

}  // namespace

ServedReport search_served(const TunePlan& plan, const LatencyChain& latencies,
                           const ServedCosts& costs, const std::function<bool()>& should_stop,
                           const std::function<void(std::size_t)>& progress,
                           const PricedExtras& extras) {
  const auto begin = std::chrono::steady_clock::now();
  require_figures(plan, costs);
  const TuneProblem& problem = plan.problems().front();
  const Sweep& sweep = plan.sweep();
  ServedReport out;
  out.title = sweep.name;
  out.model = plan.spec().id;
  out.request = sweep.served->request;
  out.objectives.assign(problem.objectives().begin(), problem.objectives().end());
  out.levels.assign(problem.levels().begin(), problem.levels().end());
  out.possible = problem.space().size();
  ServedEvaluator evaluator(plan.spec(), plan.target(), latencies, sweep.served->request,
                            sweep.routing_skew, costs);
  const bool is_simulated = costs.events && is_small(plan, costs);
  if (is_simulated) evaluator.simulate_all();
  const auto sampler = sampler_for(plan, problem);
  Found found(problem, out);
  // A grid over everything is one batch: neighbours are priced together.
  const bool is_whole = sweep.sampler == "grid" && sweep.trials == 0;
  std::size_t next = progress_trials;
  tune::run(
      problem, *sampler, evaluator,
      {.budget = {.trials = as_size(sweep.trials), .batch = is_whole ? 0 : served_batch_trials},
       .should_stop =
           [&] {
             if (progress && out.configurations >= next) {
               progress(out.configurations);
               next = out.configurations + progress_trials;
             }
             return should_stop && should_stop();
           },
       .steering = extras.steering},
      [&](const Point&, const Evaluation& e, const TrialTime& time) { found.take(e, time); });
  if (extras.times != nullptr) found.give_times(*extras.times);
  out.front = found.front();
  if (is_simulated) {
    out.by_formula = 0;
  } else if (costs.events) {
    settle(problem, evaluator, costs, out);
  }
  out.least = least_that_fits(plan, evaluator, out);
  out.priced_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (ServedPoint& point : out.front) {
    ServedEvaluator::Origin origin = evaluator.origin(point.configuration);
    point.provenance = std::move(origin.shares);
    point.ttft = std::move(origin.ttft);
    point.tpot = std::move(origin.tpot);
    point.bottleneck = std::move(origin.bottleneck);
  }
  return out;
}

}  // namespace halmark::tune
