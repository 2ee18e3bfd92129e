#include "tune/search/certainty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "model/pricing/redraw.hpp"
#include "search/pareto/front_certainty.hpp"

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
    Field field;
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

void add_probabilities(MeasuredEvaluator& evaluator, const Field& field,
                       std::vector<Evaluation>& evaluations) {
  const Sweep& sweep = evaluator.plan().sweep();
  KernelTable table;
  std::vector<StepSum> compiled;
  for (const std::size_t i : field.members) {
    compiled.push_back(composer_of(evaluator, evaluations[i]).compile(table));
  }
  std::vector<std::vector<double>> medians;
  for (const KernelCase& k : table.cases()) {
    medians.push_back(process_medians_ns(evaluator.source().rows(k)));
  }
  FrontMembership membership(field.members.size());
  for (std::uint64_t draw = 0; draw < redraws; ++draw) {
    const std::vector<KernelTime> times = redraw(medians, sweep.seed, draw);
    std::vector<Objectives> drawn;
    for (std::size_t m = 0; m < field.members.size(); ++m) {
      const Estimate& estimate = *evaluations[field.members[m]].estimate;
      const auto drawn_price = price(compiled[m], times);
      drawn.push_back(minimised(drawn_price ? with_time(estimate, drawn_price->step_ns) : estimate,
                                sweep.objectives));
    }
    membership.add(drawn);
  }
  for (std::size_t m = 0; m < field.members.size(); ++m) {
    evaluations[field.members[m]].standing->probability = membership.probability(m);
  }
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

std::size_t count_possible(std::span<const Evaluation> evaluations) {
  return static_cast<std::size_t>(std::ranges::count_if(evaluations, [](const Evaluation& e) {
    return e.standing && e.standing->front_class == FrontClass::possible;
  }));
}

}  // namespace

void judge_front(MeasuredEvaluator& evaluator, std::vector<Evaluation>& evaluations) {
  for (const Field& field : fields_of(evaluator.plan(), evaluations)) {
    const std::vector<FrontClass> classes = front_classes(field.low, field.high);
    for (std::size_t m = 0; m < field.members.size(); ++m) {
      evaluations[field.members[m]].standing = FrontStanding{classes[m], 0};
    }
    add_probabilities(evaluator, field, evaluations);
  }
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

std::string settle_front(MeasuredEvaluator& evaluator, std::vector<Evaluation>& evaluations) {
  const MeasureSettings& settings = evaluator.plan().sweep().measure;
  judge_front(evaluator, evaluations);
  const std::size_t possible_before = count_possible(evaluations);
  double spent_s = 0;
  int rows_taken = 0;
  for (int round = settings.rounds; round < settings.rounds + further_rounds_max; ++round) {
    const double left_s = settings.repeat_budget_s - spent_s;
    const std::vector<KernelCase> kernels = undecided_kernels(evaluator, evaluations);
    if (left_s <= 0 || kernels.empty()) break;
    const auto deadline = Clock::now() + std::chrono::duration<double>(left_s);
    const std::vector<Measurement> rows = evaluator.measure_rounds(
        kernels, round, 1, [deadline] { return Clock::now() >= deadline; });
    for (const Measurement& row : rows) {
      evaluator.source().add(row);
      spent_s += row.wall_s;
    }
    rows_taken += static_cast<int>(rows.size());
    if (rows.empty()) break;
    for (Evaluation& e : evaluations) e = evaluator.composed(e.configuration);
    judge_front(evaluator, evaluations);
  }
  if (rows_taken == 0) return {};
  return fmt::format(
      "repeats: {} further rows in {:.1f} s where intervals left the front undecided; {} of {} "
      "configurations in doubt are decided",
      rows_taken, spent_s, possible_before - std::min(possible_before, count_possible(evaluations)),
      possible_before);
}

}  // namespace halmark::tune
