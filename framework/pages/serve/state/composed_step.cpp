#include "pages/serve/state/composed_step.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "kernels/contract.hpp"
#include "model/pricing/composer.hpp"
#include "model/pricing/timed_step.hpp"
#include "simulate/fabric/device_fabric.hpp"
#include "tune/evaluate/step/placed_latencies.hpp"

namespace halmark::pages {
namespace {

// Thrown and caught here: a sum may stand in.
struct TooManyEvents {};

Estimate composed(const PricedSystem& system, const OperatorGraph& graph) {
  const int ranks = graph.configuration.devices();
  const Composer composer(graph, system.target().placement(ranks), system.target().facts(ranks));
  Evaluation evaluation = composer.compose(tune::modelled_lookup(system.chain(), graph));
  if (evaluation.estimate) return *std::move(evaluation.estimate);
  throw refused("no time of this step is known: " + evaluation.reason, {}, "choose another dtype");
}

OperatorShare share_of(const Operator& op, const Latency& latency, double executions) {
  const double ns = executions * latency.ns;
  return {.name = op.name,
          .layer_type = op.layer_type,
          .count = as_int64(executions),
          .ns = ns,
          .low_ns = executions * latency.low_ns,
          .high_ns = executions * latency.high_ns,
          .lower_bound_ns = executions * latency.lower_bound_ns,
          .flops = executions * op.rank_work.flops(),
          .bytes = executions * op.rank_work.bytes(),
          .bound = op.kind == OperatorKind::collective ? "communication"
                                                       : std::string(limiter_name(latency.limiter)),
          .provenance = latency.provenance,
          .status = latency.status,
          .strategy = op.strategy,
          .dtype = std::string(dtype_name(op.dtype)),
          .implementation = latency.implementation};
}

// Forward, backward and repeated passes of the operators of the stage that computes longest.
Estimate trained(const PricedSystem& system, const PricedStep& step) {
  const OperatorGraph& graph = step.graph;
  std::vector<Latency> each;
  std::vector<KernelTime> times;
  for (const auto i : indices(graph.operators)) {
    auto latency = tune::latency_of(system.chain(), graph.operators[i]);
    if (!latency) {
      throw refused(
          system.device().id + " states no figure that '" + graph.operators[i].name + "' needs", {},
          "choose another device or dtype");
    }
    times.push_back(step.cost->operators[i].passes * kernel_time(latency));
    each.push_back(*std::move(latency));
  }
  const std::vector<double> executions = TimedStep(graph, times).executions();
  Estimate out;
  for (const auto i : indices(each)) {
    if (executions[i] <= 0) continue;
    out.provenance = std::max(out.provenance, each[i].provenance);
    out.operators.push_back(
        share_of(graph.operators[i], each[i], executions[i] * step.cost->operators[i].passes));
  }
  if (out.operators.empty()) throw refused("nothing of this step takes time");
  const auto most = std::ranges::max_element(out.operators, {}, &OperatorShare::ns);
  out.bottleneck = most->name + " (" + most->bound + ")";
  out.matmul_flops = step.totals().matmul_flops;
  return out;
}

// A pipeline fills and drains, and gradients hide behind passes: events say how.
StepTime time_of(const PricedSystem& system, const PageState& state, const ComposedStep& step) {
  const Estimate& e = step.estimate;
  const bool is_training = step.priced.is_training();
  if (!is_training && !e.alone) return {e.step_ns, e.low_ns, e.high_ns, false};
  const auto outcome = simulated(system, state, step.priced,
                                 {.grain = schedule::Grain::layer,
                                  .events_max = is_training ? page_events_max : quick_events_max});
  if (!outcome && is_training) {
    throw refused("a training step of more than " + number_text(page_events_max) +
                      " events is not simulated while you wait",
                  {}, "choose fewer shards or a larger micro-batch, or ask halmark simulate");
  }
  if (!outcome) return {e.alone->ns, e.alone->low_ns, e.alone->high_ns, false};
  const double ns = outcome->simulation.step_ns();
  if (is_training || e.alone->ns <= 0) return {ns, ns, ns, true};
  const double by = ns / e.alone->ns;
  return {ns, e.alone->low_ns * by, e.alone->high_ns * by, true};
}

}  // namespace

std::optional<tune::StepOutcome> simulated(const PricedSystem& system, const PageState& state,
                                           const PricedStep& step, const SimulatedAs& as) {
  const schedule::TimeSources times{
      [&](std::size_t op) { return tune::latency_of(system.chain(), step.graph.operators[op]); },
      [&](const Problem& problem, const Work& work, std::int64_t stride) {
        return system.chain().latency(problem, work, stride);
      }};
  // Orders of passes differ in a pipeline alone.
  const bool has_stages = step.graph.stages.size() > 1;
  tune::StepSimulating asked{.order = has_stages ? state.schedule : "1f1b",
                             .joins_kernels = as.grain == schedule::Grain::layer};
  asked.options.runs = as.runs;
  std::optional<fabric::Topology> own;
  if (system.topology() == nullptr) {
    own = fabric::device_fabric(system.device(), step.graph.configuration.devices());
  }
  try {
    return tune::simulate_timed(step, schedule::Site(own ? *own : *system.topology()), times, asked,
                                [&](double events, int) {
                                  if (events > as.events_max) throw TooManyEvents();
                                });
  } catch (const TooManyEvents&) {
    return std::nullopt;
  }
}

ComposedStep composed_step(const PricedSystem& system, const PageState& state,
                           const Configuration& configuration) {
  StepQuestion question;
  if (configuration.workload.phase == Phase::training) {
    question.training = training_plan(state.training, configuration.precision);
  }
  ComposedStep out{.priced = price_step(system.spec(), configuration, system.device(), question)};
  out.estimate =
      out.priced.is_training() ? trained(system, out.priced) : composed(system, out.priced.graph);
  out.time = time_of(system, state, out);
  if (out.priced.is_training()) {
    out.estimate.step_ns = out.estimate.low_ns = out.estimate.high_ns = out.time.ns;
  }
  return out;
}

PageState stepped_page(const PricedStep& step, const tune::StepRequest& asked,
                       const std::string& order) {
  const Configuration& c = step.graph.configuration;
  return {.device = step.device ? step.device->id : asked.device,
          .model = step.graph.spec.id,
          .fabric = asked.fabric,
          .dtype = asked.configuration.dtype,
          .phase = c.workload.phase,
          .shards = c.devices(),
          .batch = c.workload.batch,
          .new_tokens = c.workload.new_tokens,
          .context = c.workload.context,
          .strategy = c.parallel,
          .training = asked.training,
          .schedule = order};
}

}  // namespace halmark::pages
