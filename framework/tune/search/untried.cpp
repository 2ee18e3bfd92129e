#include "tune/search/untried.hpp"

#include <algorithm>
#include <set>

#include "core/lists.hpp"
#include "model/pricing/memory.hpp"
#include "tune/plan/forecast.hpp"

namespace halmark::tune {

std::optional<Estimate> step_of(const Composer& composer,
                                const std::function<KernelTime(const KernelCase&)>& time) {
  KernelTable table;
  const StepSum sum = composer.compile(table);
  std::vector<KernelTime> times =
      mapped(table.cases(), [&](const KernelCase& k) { return time(k); });
  const auto priced = price(sum, times);
  if (!priced) return std::nullopt;
  Estimate out;
  out.step_ns = priced->step_ns;
  out.tokens_per_s = priced->tokens_per_s;
  out.memory_bytes_total = memory_use(composer.graph()).total_bytes;
  return out;
}

namespace {

std::string why_unpriced(const TunePlan& plan) {
  if (!plan.forecast().is_whole) {
    return "more than " + std::to_string(forecast_configurations_max) +
           " configurations are not priced one by one";
  }
  if (plan.possible().empty()) return "none is possible here";
  const Target& target = plan.target();
  const auto is_bounded = [](const Target& t) { return t.measured.has_value(); };
  const bool has_peaks =
      target.named.empty() ? is_bounded(target) : std::ranges::all_of(target.named, is_bounded);
  if (!has_peaks) return "the device has no measured peaks";
  return why_unbounded(plan.sweep().objectives);
}

std::set<Configuration> tried(std::span<const Evaluation> evaluations) {
  std::set<Configuration> out;
  for (const Evaluation& e : evaluations) out.insert(e.configuration);
  return out;
}

}  // namespace

std::vector<Untried> count_untried(const MeasuredEvaluator& evaluator,
                                   std::span<const Evaluation> evaluations) {
  const TunePlan& plan = evaluator.plan();
  const std::set<Configuration> known = tried(evaluations);
  std::vector<Untried> out;
  for (const Phase phase : {Phase::decode, Phase::prefill}) {
    Untried one{.phase = phase, .reason = why_unpriced(plan)};
    for (const Configuration& c : plan.possible()) {
      one.count += c.workload.phase == phase && !known.contains(c) ? 1 : 0;
    }
    for (const TuneProblem& problem : plan.problems()) {
      if (plan.forecast().is_whole || problem.name() != phase_name(phase)) continue;
      const auto of_phase = std::ranges::count_if(
          known, [&](const Configuration& c) { return c.workload.phase == phase; });
      one.count = problem.space().size() - as_uint64(of_phase);
    }
    if (one.count > 0) out.push_back(std::move(one));
  }
  return out;
}

std::vector<UntriedStep> untried_steps(MeasuredEvaluator& evaluator, Phase phase,
                                       std::span<const Evaluation> evaluations) {
  const TunePlan& plan = evaluator.plan();
  if (!why_unpriced(plan).empty()) return {};
  const std::set<Configuration> known = tried(evaluations);
  const MeasuredSource& source = evaluator.source();
  const auto at_best = [&](const KernelCase& k) -> KernelTime {
    const double bound_ns = source.bound_ns(k);
    if (source.rows(k).empty()) return {bound_ns, bound_ns, bound_ns, bound_ns, true};
    const auto latency = source.latency(k);
    if (!latency || !has_latency(latency->status)) return {};
    return {latency->low_ns, latency->low_ns, latency->low_ns, bound_ns, true};
  };
  std::vector<UntriedStep> out;
  for (const Configuration& c : plan.possible()) {
    if (c.workload.phase != phase || known.contains(c)) continue;
    const Composer& composer = *evaluator.composers().of(c).composer;
    if (const auto step = step_of(composer, at_best)) out.push_back({&c, &composer, *step});
  }
  return out;
}

}  // namespace halmark::tune
