#include "tune/search/certainty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "model/pricing/redraw.hpp"
#include "search/pareto/front_certainty.hpp"
#include "tune/search/untried.hpp"

namespace halmark::tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int redraws = 400;
constexpr int further_rounds_max = 6;
// Two latencies nearer than this are equal for any purpose of a deployment.
constexpr double equivalence_floor = 0.01;
// Of a configuration's interval, what the repeated kernels make up at least.
constexpr double interval_share = 0.9;

// The estimated configurations of one phase: those that compete with one another.
struct Field {
  Phase phase = Phase::decode;
  std::vector<std::size_t> members;  // into the evaluations
  std::vector<Objectives> low, high;
};

Estimate with_time(const Estimate& like, double step_ns) {
  Estimate out;
  out.step_ns = step_ns;
  out.tokens_per_s = like.tokens_per_s * like.step_ns / step_ns;
  out.memory_bytes_total = like.memory_bytes_total;
  out.energy = like.energy;
  // What was assumed follows the time; what was metered is known, whatever the time is.
  if (out.energy && !out.energy->is_measured) out.energy->joules *= step_ns / like.step_ns;
  return out;
}

const Composer& composer_of(MeasuredEvaluator& evaluator, const Evaluation& e) {
  return *evaluator.composers().of(e.configuration).composer;
}

std::vector<Field> fields_of(const TunePlan& plan, std::span<const Evaluation> evaluations) {
  std::vector<Field> out;
  for (const Phase phase : {Phase::decode, Phase::prefill}) {
    Field field{.phase = phase};
    for (std::size_t i = 0; i < evaluations.size(); ++i) {
      const Evaluation& e = evaluations[i];
      if (!e.estimate || e.configuration.workload.phase != phase) continue;
      const auto at = [&](double ns) {
        return minimised(with_time(*e.estimate, ns), plan.sweep().objectives);
      };
      field.members.push_back(i);
      field.low.push_back(at(e.estimate->low_ns));
      field.high.push_back(at(e.estimate->high_ns));
    }
    if (!field.members.empty()) out.push_back(std::move(field));
  }
  return out;
}

// What was not tried beside a field: their ends, then those that could enter.
struct UntriedField {
  std::vector<UntriedStep> steps;
  std::vector<Objectives> at_best;  // of the steps
};

// Nothing bounds them from above.
constexpr double no_bound_ns = 1e300;

// Gives every member its class, and leaves those of `untried` that something may still keep out.
void add_classes(const Sweep& sweep, const Field& field, UntriedField& untried,
                 std::vector<Evaluation>& evaluations) {
  std::vector<Objectives> low = field.low, high = field.high;
  for (const UntriedStep& step : untried.steps) {
    low.push_back(minimised(step.at_best, sweep.objectives));
    high.push_back(minimised(with_time(step.at_best, no_bound_ns), sweep.objectives));
  }
  const std::vector<FrontClass> classes = front_classes(low, high);
  const std::size_t tried = field.members.size();
  for (std::size_t m = 0; m < tried; ++m) {
    evaluations[field.members[m]].standing = FrontStanding{classes[m], 0};
  }
  std::vector<UntriedStep> kept;
  for (std::size_t u = 0; u < untried.steps.size(); ++u) {
    if (classes[tried + u] == FrontClass::out) continue;
    kept.push_back(std::move(untried.steps[u]));
    untried.at_best.push_back(std::move(low[tried + u]));
  }
  untried.steps = std::move(kept);
}

// Joint draws of the times of all steps of a field.
class StepDraws {
 public:
  StepDraws(MeasuredEvaluator& evaluator, const Field& field, const UntriedField& untried,
            std::span<const Evaluation> evaluations)
      : sweep_(evaluator.plan().sweep()), ratios_(ratios_of(field, evaluations)) {
    for (const std::size_t i : field.members) {
      add(composer_of(evaluator, evaluations[i]), *evaluations[i].estimate);
    }
    tried_ = steps_.size();
    for (const UntriedStep& u : untried.steps) add(*u.composer, u.at_best);
    for (const KernelCase& k : table_.cases()) {
      medians_.push_back(process_medians_ns(evaluator.source().rows(k)));
      bounds_ns_.push_back(evaluator.source().bound_ns(k));
    }
  }

  const BoundRatios& ratios() const { return ratios_; }

  // Of the members, then of the untried.
  std::vector<Objectives> draw(std::uint64_t number) const {
    std::vector<KernelTime> times = redraw(medians_, sweep_.seed, number);
    const std::vector<double> ratios = ratios_.draw(sweep_.seed, number, steps_.size() - tried_);
    std::vector<Objectives> out;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (s >= tried_) scale_bounds(steps_[s], ratios[s - tried_], times);
      const auto drawn = price(steps_[s].sum, times);
      const Estimate& like = *steps_[s].estimate;
      out.push_back(minimised(drawn ? with_time(like, drawn->step_ns) : like, sweep_.objectives));
    }
    return out;
  }

 private:
  struct Step {
    StepSum sum;
    const Estimate* estimate = nullptr;
  };

  static BoundRatios ratios_of(const Field& field, std::span<const Evaluation> evaluations) {
    std::vector<double> out;
    for (const std::size_t i : field.members) {
      const Estimate& e = *evaluations[i].estimate;
      if (e.lower_bound_ns > 0) out.push_back(e.step_ns / e.lower_bound_ns);
    }
    return BoundRatios(std::move(out));
  }

  void add(const Composer& composer, const Estimate& estimate) {
    steps_.push_back({composer.compile(table_), &estimate});
  }

  // Kernels of the step that nobody measured.
  void scale_bounds(const Step& step, double ratio, std::vector<KernelTime>& times) const {
    for (const StepSum::Term& term : step.sum.terms) {
      const auto k = static_cast<std::size_t>(term.kernel);
      if (!medians_[k].empty()) continue;
      const double ns = ratio * bounds_ns_[k];
      times[k] = {ns, ns, ns, bounds_ns_[k], true};
    }
  }

  const Sweep& sweep_;
  KernelTable table_;
  std::vector<Step> steps_;
  std::size_t tried_ = 0;
  std::vector<std::vector<double>> medians_;  // by kernel
  std::vector<double> bounds_ns_;
  BoundRatios ratios_;
};

// Of the members; returned of the untried.
std::vector<double> add_probabilities(MeasuredEvaluator& evaluator, const Field& field,
                                      const UntriedField& untried,
                                      std::vector<Evaluation>& evaluations) {
  const StepDraws draws(evaluator, field, untried, evaluations);
  FrontMembership membership(field.members.size() + untried.steps.size());
  for (std::uint64_t number = 0; number < redraws; ++number) membership.add(draws.draw(number));
  for (std::size_t m = 0; m < field.members.size(); ++m) {
    Evaluation& e = evaluations[field.members[m]];
    const Objectives printed = minimised(*e.estimate, evaluator.plan().sweep().objectives);
    const bool is_beaten = std::ranges::any_of(
        untried.at_best, [&](const Objectives& best) { return dominates(best, printed); });
    e.standing->probability =
        std::min(membership.probability(m), is_beaten ? draws.ratios().probability_above() : 1);
  }
  std::vector<double> out;
  for (std::size_t u = 0; u < untried.steps.size(); ++u) {
    out.push_back(membership.probability(field.members.size() + u));
  }
  return out;
}

// Those that could enter, best bound first.
std::vector<UntriedConfiguration> entering(const UntriedField& untried,
                                           std::span<const double> probabilities) {
  std::vector<UntriedConfiguration> out;
  for (std::size_t u = 0; u < untried.steps.size(); ++u) {
    const auto& [configuration, composer, best] = untried.steps[u];
    out.push_back({.configuration = *configuration,
                   .step_ns = best.step_ns,
                   .tokens_per_s = best.tokens_per_s,
                   .memory_bytes_total = best.memory_bytes_total,
                   .probability = probabilities[u]});
  }
  std::ranges::stable_sort(out, {}, &UntriedConfiguration::step_ns);
  return out;
}

bool is_tie(const Evaluation& a, const Evaluation& b) {
  return std::abs(a.estimate->step_ns / b.estimate->step_ns - 1) <= equivalence_floor;
}

// The kernels of `composer` with the widest intervals, until they make up most of them.
void add_widest(const Composer& composer, const MeasuredSource& source, std::set<KernelCase>& out) {
  KernelTable table;
  const StepSum compiled = composer.compile(table);
  std::vector<std::pair<double, std::int32_t>> widths;
  double sum = 0;
  for (const StepSum::Term& term : executions(compiled)) {
    const auto latency = source.latency(table.cases()[static_cast<std::size_t>(term.kernel)]);
    if (!latency) continue;
    widths.emplace_back(term.count * (latency->high_ns - latency->low_ns), term.kernel);
    sum += widths.back().first;
  }
  std::ranges::sort(widths, std::greater{});
  double covered = 0;
  for (const auto& [width, kernel] : widths) {
    if (covered >= interval_share * sum) return;
    out.insert(table.cases()[static_cast<std::size_t>(kernel)]);
    covered += width;
  }
}

// Those that repeats may decide.
std::size_t count_possible(const TunePlan& plan, std::span<const Evaluation> evaluations) {
  std::size_t out = 0;
  for (const Field& field : fields_of(plan, evaluations)) {
    const std::vector<FrontClass> classes = front_classes(field.low, field.high);
    out += static_cast<std::size_t>(std::ranges::count(classes, FrontClass::possible));
  }
  return out;
}

}  // namespace

std::vector<Untried> judge_front(MeasuredEvaluator& evaluator,
                                 std::vector<Evaluation>& evaluations) {
  std::vector<Untried> out = count_untried(evaluator, evaluations);
  for (const Field& field : fields_of(evaluator.plan(), evaluations)) {
    UntriedField untried{.steps = untried_steps(evaluator, field.phase, evaluations)};
    add_classes(evaluator.plan().sweep(), field, untried, evaluations);
    const std::vector<double> probabilities =
        add_probabilities(evaluator, field, untried, evaluations);
    const auto own = std::ranges::find(out, field.phase, &Untried::phase);
    if (own != out.end()) own->could_enter = entering(untried, probabilities);
  }
  return out;
}

std::vector<KernelCase> undecided_kernels(MeasuredEvaluator& evaluator,
                                          std::span<const Evaluation> evaluations) {
  const MeasuredSource& source = evaluator.source();
  std::set<KernelCase> out;
  for (const Field& field : fields_of(evaluator.plan(), evaluations)) {
    const std::vector<FrontClass> classes = front_classes(field.low, field.high);
    for (std::size_t m = 0; m < field.members.size(); ++m) {
      if (classes[m] != FrontClass::possible) continue;
      const Evaluation& self = evaluations[field.members[m]];
      for (const std::size_t r : rivals(m, field.low, field.high)) {
        const Evaluation& rival = evaluations[field.members[r]];
        if (is_tie(self, rival)) continue;
        add_widest(composer_of(evaluator, self), source, out);
        add_widest(composer_of(evaluator, rival), source, out);
      }
    }
  }
  return {out.begin(), out.end()};
}

SettledFront settle_front(MeasuredEvaluator& evaluator, std::vector<Evaluation>& evaluations) {
  const TunePlan& plan = evaluator.plan();
  const MeasureSettings& settings = plan.sweep().measure;
  SettledFront out{.untried = judge_front(evaluator, evaluations)};
  const std::size_t possible_before = count_possible(plan, evaluations);
  double spent_s = 0;
  int rows_taken = 0;
  for (int round = settings.rounds; round < settings.rounds + further_rounds_max; ++round) {
    const double left_s = settings.repeat_budget_s - spent_s;
    const std::vector<KernelCase> kernels = undecided_kernels(evaluator, evaluations);
    if (left_s <= 0 || kernels.empty()) break;
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(left_s));
    const std::vector<Measurement> rows = evaluator.measure_rounds(kernels, round, 1, until);
    for (const Measurement& row : rows) {
      evaluator.source().add(row);
      spent_s += row.wall_s;
    }
    rows_taken += static_cast<int>(rows.size());
    if (rows.empty()) break;
    for (Evaluation& e : evaluations) e = evaluator.composed(e.configuration);
    out.untried = judge_front(evaluator, evaluations);
  }
  if (rows_taken == 0) return out;
  const std::size_t possible = count_possible(plan, evaluations);
  out.note = fmt::format(
      "repeats: {} further rows in {:.1f} s where intervals left the front undecided; {} of {} "
      "configurations in doubt are decided",
      rows_taken, spent_s, possible_before - std::min(possible_before, possible), possible_before);
  return out;
}

}  // namespace halmark::tune
