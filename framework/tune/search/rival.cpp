#include "tune/search/rival.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "search/pareto/nearest_rival.hpp"
#include "search/proposer.hpp"
#include "tune/plan/forecast.hpp"
#include "tune/search/step_draws.hpp"

namespace halmark::tune {
namespace {

constexpr std::uint64_t draws_of_known = 256;
constexpr std::size_t competitors_max = 32;  // of a phase, the best by the first objective
constexpr double z_of_interval = 1.6449;     // 95 % of a normal distribution lie below it
constexpr const char* not_measured_here = "these times are not measured here";

// Less is better and above zero: of a maximised objective what one of it costs.
double as_cost(double minimised) { return minimised < 0 ? -1 / minimised : minimised; }

std::vector<KernelCase> kernels_of(const Composer& a, const Composer& b) {
  std::set<KernelCase> out(a.kernels().begin(), a.kernels().end());
  out.insert(b.kernels().begin(), b.kernels().end());
  return {out.begin(), out.end()};
}

// Of further rounds of both, or of the first rounds of one that was not tried.
std::optional<double> seconds_to_decide(const MeasuredEvaluator& evaluator,
                                        const NearestRival& nearest,
                                        std::span<const KernelCase> kernels) {
  std::vector<KernelCase> unmeasured;
  double round_s = 0;
  std::size_t rounds = std::numeric_limits<std::size_t>::max();
  for (const KernelCase& k : kernels) {
    const std::vector<Measurement> rows = evaluator.source().rows(k);
    if (rows.empty()) {
      unmeasured.push_back(k);
      continue;
    }
    rounds = std::min(rounds, rows.size());
    for (const Measurement& m : rows) round_s += m.wall_s / as_double(rows.size());
  }
  if (nearest.observations() <= 1) return 0;
  if (!unmeasured.empty()) {
    const std::vector<double> each = case_seconds(evaluator.plan(), unmeasured);
    return std::accumulate(each.begin(), each.end(), 0.0);
  }
  if (std::abs(nearest.behind) <= equivalence_floor) return std::nullopt;
  const auto n = as_double(rounds);
  return round_s * (std::ceil(n * nearest.observations()) - n);
}

// One standard normal for whatever has this name in a draw.
double normal_of(const std::string& name, std::uint64_t number) {
  constexpr std::uint64_t purpose = 0x7276;
  return Stream(xxh3_of(name), number, purpose).normal();
}

// A normal on each side of the middle, of logarithms.
double error_of(double z, double value, double low, double high) {
  const double end = z > 0 ? high : low;
  return end > 0 && value > 0 ? std::abs(z) / z_of_interval * std::log(end / value) : 0;
}

double drawn_step_ns(const Estimate& e, std::uint64_t number) {
  double ns = 0, all_ns = 0;
  for (const OperatorShare& o : e.operators) {
    const std::string source = std::string(provenance_name(o.provenance)) + '|' + o.origin;
    const std::string of = source + '|' + o.name;
    const std::string kernel = of + '|' + o.dtype + '|' + std::to_string(o.ns / as_double(o.count));
    const double z =
        (normal_of(source, number) + normal_of(of, number) + normal_of(kernel, number)) /
        std::sqrt(3.0);
    ns += o.ns * std::exp(error_of(z, o.ns, o.low_ns, o.high_ns));
    all_ns += o.ns;
  }
  return all_ns > 0 ? e.step_ns * ns / all_ns : e.step_ns;
}

Rival as_rival(Objective objective, const Configuration& chosen, const Configuration& rival,
               const NearestRival& nearest, bool has_spread) {
  Rival out{.objective = objective, .chosen = chosen, .rival = rival, .behind = nearest.behind};
  if (has_spread) out.probability = nearest.probability;
  out.deciding_reason = not_measured_here;
  return out;
}

std::optional<Rival> known_rival(std::span<const Evaluation* const> steps, Objective objective) {
  const std::vector<Objective> one = {objective};
  std::vector<std::vector<double>> draws;
  bool has_spread = false;
  for (const std::uint64_t number : below(draws_of_known)) {
    auto& drawn = draws.emplace_back();
    for (const Evaluation* e : steps) {
      const double ns = drawn_step_ns(*e->estimate, number);
      drawn.push_back(as_cost(minimised(with_time(*e->estimate, ns), one).front()));
      has_spread = has_spread || ns != e->estimate->step_ns;
    }
  }
  const auto nearest = nearest_rival(draws, 0);
  if (!nearest || !std::isfinite(nearest->behind)) return std::nullopt;
  Rival out = as_rival(objective, steps.front()->configuration,
                       steps[nearest->rival]->configuration, *nearest, has_spread);
  const auto cost = [&](const Evaluation* e) {
    return as_cost(minimised(with_time(*e->estimate, e->estimate->step_ns), one).front());
  };
  out.behind = cost(steps[nearest->rival]) / cost(steps.front()) - 1;
  return out;
}

}  // namespace

std::optional<Rival> measured_rival(const MeasuredEvaluator& evaluator,
                                    std::span<const Competitor> competitors, std::size_t chosen,
                                    std::span<const std::vector<double>> draws) {
  std::vector<std::vector<double>> costs(draws.begin(), draws.end());
  for (std::vector<double>& draw : costs) std::ranges::transform(draw, draw.begin(), as_cost);
  const auto nearest = nearest_rival(costs, chosen);
  if (!nearest || !std::isfinite(nearest->behind)) return std::nullopt;
  const Competitor &best = competitors[chosen], &rival = competitors[nearest->rival];
  Rival out = as_rival(evaluator.plan().sweep().objectives.front(), *best.configuration,
                       *rival.configuration, *nearest, true);
  out.is_measured = rival.is_measured;
  out.deciding_s =
      seconds_to_decide(evaluator, *nearest, kernels_of(*best.composer, *rival.composer));
  out.deciding_reason = out.deciding_s ? "" : "no measuring tells them apart";
  return out;
}

void add_rivals(RunReport& report) {
  const auto objective = parse_objective(report.objectives.front());
  if (!objective) return;
  const auto value = [&](const Evaluation* e) {
    return minimised(*e->estimate, std::vector<Objective>{*objective}).front();
  };
  const auto is_bound = [](const Evaluation& e) {
    return e.estimate->provenance == Provenance::roofline;
  };
  for (const Phase phase : {Phase::decode, Phase::prefill}) {
    std::vector<const Evaluation*> steps;
    for (const FrontPoint& p : report.front) {
      const Evaluation& e = report.evaluations[p.evaluation];
      if (e.configuration.workload.phase == phase) steps.push_back(&e);
    }
    // A bound is no time that something else could be compared with.
    if (!std::ranges::all_of(steps, [&](const Evaluation* e) { return is_bound(*e); })) {
      std::erase_if(steps, [&](const Evaluation* e) { return is_bound(*e); });
    }
    if (steps.empty()) continue;
    const Evaluation* best = *std::ranges::min_element(steps, {}, value);
    steps.clear();
    for (const Evaluation& e : report.evaluations) {
      if (!e.estimate || e.configuration.workload.phase != phase || &e == best) continue;
      if (is_bound(e) == is_bound(*best)) steps.push_back(&e);
    }
    std::ranges::stable_sort(steps, {}, value);
    if (steps.size() > competitors_max) steps.resize(competitors_max);
    steps.insert(steps.begin(), best);
    if (auto rival = known_rival(steps, *objective)) report.rivals.push_back(std::move(*rival));
  }
}

namespace {

// Among the points that one may choose as well as the chosen one.
std::vector<std::size_t> like_chosen(const ServedReport& report, bool is_by_rule) {
  constexpr double as_sure = 0.1;  // points of probability that are no reason, see pick_point
  const auto sureness = [&](std::size_t i) {
    const ServedEstimate& e = report.front[i].estimate;
    if (!report.levels.empty()) return probability(report, e).value_or(0);
    const auto of_user = row_of(Objective::interactivity).of_requests(e.figures);
    return of_user.value_or(0) >= user_tokens_per_s ? 1.0 : 0.0;
  };
  const std::size_t chosen = report.chosen->index;
  const double least = std::min(sureness(chosen) - as_sure, sure_to_keep_levels);
  std::vector<std::size_t> out = {chosen};
  for (const auto i : indices(report.front)) {
    if (i != chosen && (!is_by_rule || sureness(i) >= least)) out.push_back(i);
  }
  return out;
}

double cost_of(const ServingFigures& figures, Objective objective) {
  const double value = row_of(objective).of_requests(figures).value_or(std::nan(""));
  return is_maximised(objective) ? 1 / value : value;
}

double drawn_cost(const ServedPoint& point, Objective objective, std::uint64_t number) {
  const auto cost = [&](const ServingFigures& figures) { return cost_of(figures, objective); };
  const ServedEstimate& e = point.estimate;
  const double middle = cost(e.figures);
  if (!e.has_interval) return middle;
  const double z = std::sqrt(2.0 / 3) * normal_of("requests", number) +
                   std::sqrt(1.0 / 3) * normal_of(point.configuration.key(), number);
  return middle * std::exp(error_of(z, middle, cost(e.fast), cost(e.slow)));
}

}  // namespace

void add_rival(ServedReport& report, const std::string& how) {
  if (!report.chosen || how == "knee") return;
  const bool is_by_rule = !how.starts_with("best:");
  const auto objective = is_by_rule ? std::optional(Objective::tokens_per_s_per_device)
                                    : parse_request_objective(how.substr(5));
  if (!objective) return;
  const std::vector<std::size_t> points = like_chosen(report, is_by_rule);
  std::vector<std::vector<double>> draws;
  for (const std::uint64_t number : below(draws_of_known)) {
    auto& drawn = draws.emplace_back();
    for (const std::size_t i : points) {
      drawn.push_back(drawn_cost(report.front[i], *objective, number));
    }
  }
  const auto nearest = nearest_rival(draws, 0);
  if (!nearest || !std::isfinite(nearest->behind)) return;
  const ServedPoint &chosen = report.front[points.front()],
                    &rival = report.front[points[nearest->rival]];
  report.rival = as_rival(*objective, chosen.configuration, rival.configuration, *nearest,
                          chosen.estimate.has_interval || rival.estimate.has_interval);
  report.rival->behind =
      cost_of(rival.estimate.figures, *objective) / cost_of(chosen.estimate.figures, *objective) -
      1;
}

}  // namespace halmark::tune
