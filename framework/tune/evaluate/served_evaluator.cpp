#include "tune/evaluate/served_evaluator.hpp"

#include <algorithm>
#include <array>

#include "core/lists.hpp"
#include "tune/evaluate/step/placed_latencies.hpp"

namespace halmark::tune {
namespace {

ServingFacts facts_of(const Target& target, const LatencyChain& latencies,
                      const ServedCosts& costs) {
  return {.memory_bytes = target.memory_bytes,
          .power_w = target.datasheet->power_w,
          .usd_per_device_hour = costs.usd_per_device_hour,
          .transfer_bytes_per_s = costs.transfer_bytes_per_s,
          .fabric_bytes_per_s = costs.fabric_bytes_per_s,
          .peaks = &*target.datasheet,
          .has_interval = !costs.engine && latencies.has_interval(),
          .engine = costs.engine};
}

ServingFacts with_events(ServingFacts facts, const ServedCosts& costs) {
  facts.events = costs.events;
  return facts;
}

Evaluation evaluated(ServingPricer& pricer, const Configuration& configuration) {
  Evaluation out{.configuration = configuration};
  const auto answer = pricer.estimate(configuration);
  if (const Refusal* refusal = answer.why()) {
    out.status = Status::refused;
    out.refusal = refusal->reason;
    out.reason = refusal->text;
  } else {
    out.served = *answer;
  }
  return out;
}

}  // namespace

ServedCosts served_costs(const PricedLatencies& latencies,
                         const std::optional<serving::FittedTerms>& terms) {
  ServedCosts out{.transfer_bytes_per_s = latencies.transfer_bytes_per_s};
  if (latencies.fabric != nullptr) {
    out.fabric_bytes_per_s = [of = latencies.fabric](std::int64_t n) { return of->bytes_per_s(n); };
  }
  if (!terms) return out;
  out.engine = engine_around(latencies, *terms);
  out.events = events_of(*out.engine);
  return out;
}

ServedEvaluator::ServedEvaluator(const ModelSpec& spec, const Target& target,
                                 const LatencyChain& latencies, const RequestShape& request,
                                 std::int64_t routing_skew, const ServedCosts& costs)
    : spec_(spec),
      latencies_(latencies),
      steps_(
          spec, [&latencies](const Operator& op) { return kernel_time(latency_of(latencies, op)); },
          &*target.datasheet, routing_skew),
      pricer_(spec, steps_, request, facts_of(target, latencies, costs)),
      events_(spec, steps_, request, with_events(facts_of(target, latencies, costs), costs)) {}

std::vector<Evaluation> ServedEvaluator::evaluate(std::span<const Configuration> configurations) {
  std::vector<Evaluation> out(configurations.size());
  times_.assign(configurations.size(), {});
  for (const auto i : indices(configurations)) {
    times_[i].began = std::chrono::system_clock::now();
    out[i] = evaluated(simulates_all_ ? events_ : pricer_, configurations[i]);
    times_[i].ended = std::chrono::system_clock::now();
  }
  return out;
}

Evaluation ServedEvaluator::by_events(const Configuration& configuration) {
  return evaluated(events_, configuration);
}

ServedEvaluator::Origin ServedEvaluator::origin(const Configuration& c) const {
  const ServedLoad& load = *c.served;
  const bool is_aggregated = load.mode == ServingMode::aggregated;
  const std::int64_t parts = std::int64_t{c.parallel.dp} * c.parallel.pp;
  const std::int64_t sequences =
      is_aggregated
          ? load.concurrency
          : std::max<std::int64_t>(1, load.concurrency / std::max(1, load.decode_workers));
  const std::int64_t tokens = std::min(load.token_budget, load.request.input_tokens);
  const std::int64_t skew = c.workload.routing_skew;
  std::array<Configuration, 2> steps;
  steps.fill({.model = c.model, .parallel = c.parallel, .precision = c.precision});
  steps[0].workload = {Phase::decode, sequences, 1, decode_context(load.request), skew};
  steps[1].workload = {Phase::prefill, is_aggregated ? parts : 1, tokens, tokens, skew};
  if (!is_aggregated) steps[1].parallel = load.prefill;
  Origin out;
  double largest = 0, total = 0;
  for (const Configuration& step : steps) {
    TimesFrom& from = step.workload.phase == Phase::decode ? out.tpot : out.ttft;
    double step_ns = 0;
    auto built = build_graph(spec_, step);
    const auto* graph = built.get();
    if (graph == nullptr) continue;
    for (const Operator& op : graph->operators) {
      const auto latency = latency_of(latencies_, op);
      if (!latency) continue;
      const double ns = as_double(op.count) * latency->ns;
      out.shares[latency->provenance] += ns;
      total += ns;
      step_ns += ns;
      from.add(op.name, ns, *latency);
      if (step.workload.phase != Phase::decode || ns <= largest) continue;
      largest = ns;
      out.bottleneck = op.name;
    }
    from.finish(step_ns);
  }
  for (auto& [provenance, share] : out.shares) share /= total;
  return out;
}

}  // namespace halmark::tune
