#include "tune/search/certainty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "core/lists.hpp"
#include "search/pareto/front_certainty.hpp"
#include "tune/search/step_draws.hpp"
#include "tune/search/untried.hpp"

namespace halmark::tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int redraws = 400;
constexpr int further_rounds_max = 6;
// Of a configuration's interval, what the repeated kernels make up at least.
constexpr double interval_share = 0.9;

// The estimated configurations of one phase: those that compete with one another.
struct Field {
  Phase phase = Phase::decode;
  std::vector<std::size_t> members;  // into the evaluations
  std::vector<Objectives> low, high;
};

const Composer& composer_of(MeasuredEvaluator& evaluator, const Evaluation& e) {
  return *evaluator.composers().of(e.configuration).composer;
}

// One process says nothing of others: how far medians of another lie from it, two deviations.
constexpr double other_process = 0.06;

double doubt_of(MeasuredEvaluator& evaluator, const Evaluation& e) {
  const auto has_one = [&](const KernelCase& k) {
    return process_medians_ns(evaluator.source().rows(k)).size() == 1;
  };
  return std::ranges::any_of(composer_of(evaluator, e).kernels(), has_one) ? other_process : 0;
}

std::vector<Field> fields_of(MeasuredEvaluator& evaluator,
                             std::span<const Evaluation> evaluations) {
  const TunePlan& plan = evaluator.plan();
  std::vector<Field> out;
  for (const Phase phase : {Phase::decode, Phase::prefill}) {
    Field field{.phase = phase};
    for (const auto i : indices(evaluations)) {
      const Evaluation& e = evaluations[i];
      if (!e.estimate || e.configuration.workload.phase != phase) continue;
      const auto at = [&](double ns) {
        return minimised(with_time(*e.estimate, ns), plan.sweep().objectives);
      };
      field.members.push_back(i);
      const double doubt = doubt_of(evaluator, e);
      field.low.push_back(at(e.estimate->low_ns * (1 - doubt)));
      field.high.push_back(at(e.estimate->high_ns * (1 + doubt)));
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
  for (const auto m : indices(tried)) {
    evaluations[field.members[m]].standing = FrontStanding{classes[m], 0};
  }
  std::vector<UntriedStep> kept;
  for (const auto u : indices(untried.steps)) {
    if (classes[tried + u] == FrontClass::out) continue;
    kept.push_back(std::move(untried.steps[u]));
    untried.at_best.push_back(std::move(low[tried + u]));
  }
  untried.steps = std::move(kept);
}

// Whatever is believed of kernels: of n tried ones the next is the best of all with probability
// 1 / (n + 1), if they are alike.
double probability_like(std::size_t tried) {
  const auto n = as_double(tried);
  return n / (n + 1);
}

// Of the member that is best by the first objective.
std::optional<Rival> rival_of(MeasuredEvaluator& evaluator, const Field& field,
                              const UntriedField& untried,
                              std::span<const std::vector<double>> firsts,
                              const std::vector<Evaluation>& evaluations) {
  const std::span<const Objective> objectives = evaluator.plan().sweep().objectives;
  std::vector<Competitor> competitors;
  std::vector<double> values;
  for (const std::size_t i : field.members) {
    const Evaluation& e = evaluations[i];
    competitors.push_back({&e.configuration, &composer_of(evaluator, e), true});
    values.push_back(minimised(*e.estimate, objectives).front());
  }
  for (const UntriedStep& u : untried.steps) {
    competitors.push_back({u.configuration, u.composer, false});
  }
  const auto chosen = as_size(std::ranges::min_element(values) - values.begin());
  return measured_rival(evaluator, competitors, chosen, firsts);
}

// Of the members; returned of the untried.
std::vector<double> add_probabilities(MeasuredEvaluator& evaluator, const Field& field,
                                      const UntriedField& untried,
                                      std::vector<Evaluation>& evaluations,
                                      std::vector<Rival>& rivals) {
  StepDraws draws(evaluator);
  for (const std::size_t i : field.members) {
    draws.add(composer_of(evaluator, evaluations[i]), *evaluations[i].estimate);
  }
  for (const UntriedStep& u : untried.steps) draws.add(*u.composer, u.at_best);
  FrontMembership membership(field.members.size() + untried.steps.size());
  std::vector<std::vector<double>> firsts;  // by draw: values of the first objective
  for (const std::uint64_t number : below(redraws)) {
    const std::vector<Objectives> drawn = draws.draw(number);
    membership.add(drawn);
    auto& first = firsts.emplace_back();
    for (const Objectives& o : drawn) first.push_back(o.front());
  }
  if (auto rival = rival_of(evaluator, field, untried, firsts, evaluations)) {
    rivals.push_back(std::move(*rival));
  }
  for (const auto m : indices(field.members)) {
    Evaluation& e = evaluations[field.members[m]];
    const Objectives printed = minimised(*e.estimate, evaluator.plan().sweep().objectives);
    const bool is_beaten = std::ranges::any_of(
        untried.at_best, [&](const Objectives& best) { return dominates(best, printed); });
    e.standing->probability =
        std::min(membership.probability(m), is_beaten ? probability_like(field.members.size()) : 1);
  }
  return mapped(indices(untried.steps),
                [&](const auto u) { return membership.probability(field.members.size() + u); });
}

// Those that could enter, best bound first.
std::vector<UntriedConfiguration> entering(const UntriedField& untried,
                                           std::span<const double> probabilities) {
  std::vector<UntriedConfiguration> out;
  for (const auto u : indices(untried.steps)) {
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
    const auto latency = source.latency(table.cases()[as_size(term.kernel)]);
    if (!latency) continue;
    widths.emplace_back(term.count * (latency->high_ns - latency->low_ns), term.kernel);
    sum += widths.back().first;
  }
  std::ranges::sort(widths, std::greater{});
  double covered = 0;
  for (const auto& [width, kernel] : widths) {
    if (covered >= interval_share * sum) return;
    out.insert(table.cases()[as_size(kernel)]);
    covered += width;
  }
}

// Those that repeats may decide.
std::size_t count_possible(MeasuredEvaluator& evaluator, std::span<const Evaluation> evaluations) {
  std::size_t out = 0;
  for (const Field& field : fields_of(evaluator, evaluations)) {
    const std::vector<FrontClass> classes = front_classes(field.low, field.high);
    out += as_size(std::ranges::count(classes, FrontClass::possible));
  }
  return out;
}

}  // namespace

std::vector<Untried> judge_front(MeasuredEvaluator& evaluator,
                                 std::vector<Evaluation>& evaluations) {
  std::vector<Rival> rivals;
  return judge_front(evaluator, evaluations, rivals);
}

std::vector<Untried> judge_front(MeasuredEvaluator& evaluator, std::vector<Evaluation>& evaluations,
                                 std::vector<Rival>& rivals) {
  rivals.clear();
  std::vector<Untried> out = count_untried(evaluator, evaluations);
  for (const Field& field : fields_of(evaluator, evaluations)) {
    UntriedField untried{.steps = untried_steps(evaluator, field.phase, evaluations)};
    add_classes(evaluator.plan().sweep(), field, untried, evaluations);
    const std::vector<double> probabilities =
        add_probabilities(evaluator, field, untried, evaluations, rivals);
    auto* own = find_or_null(out, field.phase, &Untried::phase);
    if (own) own->could_enter = entering(untried, probabilities);
  }
  return out;
}

std::vector<KernelCase> undecided_kernels(MeasuredEvaluator& evaluator,
                                          std::span<const Evaluation> evaluations) {
  const MeasuredSource& source = evaluator.source();
  std::set<KernelCase> out;
  for (const Field& field : fields_of(evaluator, evaluations)) {
    const std::vector<FrontClass> classes = front_classes(field.low, field.high);
    for (const auto m : indices(field.members)) {
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
  SettledFront out;
  out.untried = judge_front(evaluator, evaluations, out.rivals);
  const std::size_t possible_before = count_possible(evaluator, evaluations);
  double spent_s = 0;
  int rows_taken = 0;
  for (int round = settings.rounds; round < settings.rounds + further_rounds_max; ++round) {
    // A regret says how long is measured: its search chose rounds by what they are worth.
    const double left_s = plan.sweep().regret ? 0 : settings.repeat_budget_s - spent_s;
    const std::vector<KernelCase> kernels = undecided_kernels(evaluator, evaluations);
    if (left_s <= 0 || kernels.empty()) break;
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(left_s));
    const std::vector<Measurement> rows = evaluator.measure_rounds(kernels, round, 1, until);
    for (const Measurement& row : rows) {
      evaluator.source().add(row);
      spent_s += row.wall_s;
    }
    rows_taken += as_int(rows.size());
    if (rows.empty()) break;
    for (Evaluation& e : evaluations) e = evaluator.composed(e.configuration);
    out.untried = judge_front(evaluator, evaluations, out.rivals);
  }
  if (rows_taken == 0) return out;
  const std::size_t possible = count_possible(evaluator, evaluations);
  out.note = fmt::format(
      "repeats: {} further rows in {:.1f} s where intervals left the front undecided; {} of {} "
      "configurations in doubt are decided",
      rows_taken, spent_s, possible_before - std::min(possible_before, possible), possible_before);
  return out;
}

}  // namespace halmark::tune
