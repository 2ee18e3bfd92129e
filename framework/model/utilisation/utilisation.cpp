#include "model/utilisation/utilisation.hpp"

#include <algorithm>

#include "core/dtype.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/units.hpp"
#include "model/utilisation/convention_graph.hpp"
#include "roofline/ceilings.hpp"

namespace halmark {

namespace {

Dtype peak_dtype(const Convention& convention, const Operator& op) {
  return parse_dtype(convention.peak).value_or(op.dtype);
}

// Executions of an operator's forward pass that one operator stands for in the step.
double passes(const std::optional<TrainingCost>& cost, std::size_t index) {
  return cost ? cost->operators[index].passes : 1;
}

std::optional<TrainingCost> cost_of(const OperatorGraph& graph,
                                    const std::optional<TrainingPlan>& plan) {
  return plan ? std::optional(training_cost(graph, *plan)) : std::nullopt;
}

// Largest stage: executions of every operator on one of its ranks, times `of_one(op)`.
template <typename OfOne>
std::optional<double> busiest_rank(const OperatorGraph& graph,
                                   const std::optional<TrainingCost>& cost, const OfOne& of_one) {
  const auto micro_batches = as_double(graph.micro_batches());
  std::vector<double> stages(graph.stages.size());
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    const std::optional<double> one = of_one(op);
    if (!one) return std::nullopt;
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      stages[stage] += *one * passes(cost, i) * micro_batches * as_double(op.stage_counts[stage]);
    }
  }
  return *std::ranges::max_element(stages);
}

struct MeanPeak {
  std::optional<double> flops_per_s;
  std::string reason;
};

// Total FLOPs of the step over their time at peak, each product in its own precision.
MeanPeak mean_peak(const OperatorGraph& graph, const MeasuredStep& step,
                   const std::optional<TrainingCost>& cost) {
  if (!step.device) return {std::nullopt, "no device named (--device)"};
  double flops = 0, seconds = 0;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    if (op.matmul_flops <= 0) continue;
    const Dtype dtype = peak_dtype(step.convention, op);
    const auto peak = shard_peak(*step.device, dtype, step.share);
    if (!peak) {
      return {std::nullopt,
              "no peak for " + std::string(dtype_name(dtype)) + " on " + step.device->id};
    }
    const double passes = cost ? cost->operators[i].model_passes : 1;
    flops += passes * op.matmul_flops;
    seconds += passes * op.matmul_flops / *peak;
  }
  if (seconds <= 0) return {std::nullopt, "the step has no matrix products"};
  return {flops / seconds, {}};
}

void fill_roofline(const OperatorGraph& graph, const MeasuredStep& step,
                   const std::optional<TrainingCost>& cost, StepUtilisation& out) {
  if (!step.device) {
    out.roofline_reason = "no device named (--device)";
    return;
  }
  std::string unknown;
  const auto ns = busiest_rank(graph, cost, [&](const Operator& op) -> std::optional<double> {
    const auto estimate = roofline_estimate(op.rank_work, *step.device, step.share);
    if (!estimate) {
      unknown = op.name;
      return std::nullopt;
    }
    return estimate->ns;
  });
  if (ns) {
    out.roofline = *ns / step.ns;
  } else {
    out.roofline_reason =
        step.device->id + " states no peak or bandwidth that '" + unknown + "' needs";
  }
}

// By resource: parts of bounds that are provable alone, summed over what one rank executes.
void fill_bound(const OperatorGraph& graph, const MeasuredStep& step,
                const std::optional<TrainingCost>& cost, StepUtilisation& out) {
  if (!step.device || step.share.parts != 1) return;
  const roofline::Ceilings ceilings(*step.device, step.share.threads);
  double largest_ns = 0;
  for (const Limiter limiter : {Limiter::compute, Limiter::memory, Limiter::communication}) {
    const auto ns = busiest_rank(graph, cost, [&](const Operator& op) {
      return std::optional(roofline::step_bound(op.local, op.rank_work, ceilings).ns(limiter));
    });
    largest_ns = std::max(largest_ns, ns.value_or(0));
  }
  if (largest_ns > 0) out.bound = largest_ns / step.ns;
}

// What the plan adds to the shape: adapters, and products that alternate recomputation repeats.
void add_training(const OperatorGraph& graph, const Convention& convention,
                  const TrainingPlan& plan, FlopShape& out) {
  const auto tokens =
      as_double(graph.configuration.workload.batch * graph.configuration.workload.new_tokens);
  const TrainingCost cost = training_cost(graph, plan);
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    if (graph.is_prediction(op) && !convention.mtp) continue;
    out.adapter_weights += as_double(op.count * adapter_weights(op, plan.lora_rank).whole);
    if (plan.recompute != Recompute::alternate || op.matmul_flops <= 0) continue;
    const OperatorTraining& passes = cost.operators[i];
    out.alternate_weights += (passes.passes - passes.model_passes) * op.matmul_flops / (2 * tokens);
  }
}

}  // namespace

double step_flops(const OperatorGraph& graph, const Convention& convention,
                  const std::optional<TrainingPlan>& training) {
  if (convention.replication) {
    const auto devices = as_double(graph.configuration.devices());
    const auto cost = cost_of(graph, training);
    return devices *
           (cost ? cost->totals.matmul_flops_per_rank : graph.totals.matmul_flops_per_rank);
  }
  const auto sequences = as_double(graph.configuration.workload.batch);
  FlopShape shape = flop_shape(graph, convention.mtp);
  if (training) add_training(graph, convention, *training, shape);
  return sequences * convention_flops(shape, sequence_of(graph), convention,
                                      training ? training->recompute : Recompute::none);
}

StepUtilisation utilisation(const OperatorGraph& graph, const MeasuredStep& step) {
  const auto cost = cost_of(graph, step.training);
  StepUtilisation out{.convention_flops = step_flops(graph, step.convention, step.training)};
  fill_roofline(graph, step, cost, out);
  fill_bound(graph, step, cost, out);
  const MeanPeak peak = mean_peak(graph, step, cost);
  if (!peak.flops_per_s) {
    out.reason = peak.reason;
    return out;
  }
  const double seconds = step.ns / ns_per_s;
  const auto devices = as_double(graph.configuration.devices());
  const double capacity = devices * *peak.flops_per_s * seconds;
  out.peak_flops_per_s = peak.flops_per_s;
  out.model = out.convention_flops / capacity;
  Convention recomputed = step.convention;
  if (recomputed.recompute == RecomputeRule::out) recomputed.recompute = RecomputeRule::in;
  out.hfu = step_flops(graph, recomputed, step.training) / capacity;
  out.executed = *busiest_rank(graph, cost, [&](const Operator& op) -> std::optional<double> {
    if (op.rank_work.matmul_flops <= 0) return 0.0;
    const auto of_op = shard_peak(*step.device, peak_dtype(step.convention, op), step.share);
    return of_op ? op.rank_work.matmul_flops / *of_op / seconds : 0.0;
  });
  return out;
}

}  // namespace halmark
