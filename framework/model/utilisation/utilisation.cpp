#include "model/utilisation/utilisation.hpp"

#include <algorithm>

#include "core/dtype.hpp"
#include "core/lists.hpp"
#include "core/text/units.hpp"
#include "model/graph/context_split.hpp"
#include "model/pricing/timed_step.hpp"
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

// `of_one(op)`: of one execution, in any unit; nothing where one has none.
template <typename OfOne>
std::optional<TimedStep> timed(const OperatorGraph& graph, const std::optional<TrainingCost>& cost,
                               const OfOne& of_one) {
  std::vector<KernelTime> out;
  for (const auto i : indices(graph.operators)) {
    const std::optional<double> one = of_one(graph.operators[i]);
    if (!one) return std::nullopt;
    out.push_back({.ns = *one * passes(cost, i), .is_known = true});
  }
  return TimedStep(graph, std::move(out));
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
  for (const auto i : indices(graph.operators)) {
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
  const auto sum = timed(graph, cost, [&](const Operator& op) -> std::optional<double> {
    const auto estimate = best_estimate(op, *step.device, step.share);
    if (!estimate) {
      unknown = op.name;
      return std::nullopt;
    }
    return estimate->ns;
  });
  if (sum) {
    out.roofline = sum->stream().time.ns / step.ns;
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
    const auto sum = timed(graph, cost, [&](const Operator& op) {
      return std::optional(roofline::step_bound(op.local, op.rank_work, ceilings).ns(limiter));
    });
    largest_ns = std::max(largest_ns, sum->stream().time.ns);
  }
  if (largest_ns > 0) out.bound = largest_ns / step.ns;
}

// Blocks of queries are a launch each.
std::optional<RooflineEstimate> launches_estimate(const Operator& op, const Device& device,
                                                  ShardShare share) {
  std::optional<RooflineEstimate> out;
  for (const Problem& block : heaviest_blocks(op.of_context_rank)) {
    const auto one = roofline_estimate(work_of({block}), device, share);
    if (!one) return std::nullopt;
    const double before_ns = out ? out->ns : 0;
    if (!out || one->ns > before_ns) out = one;
    out->ns = before_ns + one->ns;
  }
  return out;
}

// What the plan adds to the shape: adapters, and products that alternate recomputation repeats.
void add_training(const OperatorGraph& graph, const Convention& convention,
                  const TrainingPlan& plan, FlopShape& out) {
  const auto tokens =
      as_double(graph.configuration.workload.batch * graph.configuration.workload.new_tokens);
  const TrainingCost cost = training_cost(graph, plan);
  for (const auto i : indices(graph.operators)) {
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

std::optional<RooflineEstimate> best_estimate(const Operator& op, const Device& device,
                                              ShardShare share) {
  if (!op.of_context_rank.empty()) return launches_estimate(op, device, share);
  auto out = roofline_estimate(op.rank_work, device, share);
  if (!out || op.kind != OperatorKind::collective) return out;
  const std::int64_t ranks = op.local.params.value_or("ranks", 1);
  const auto over_link = RooflineRates(device, share).ns(op.local_work, ranks);
  if (over_link) out->ns = std::max(out->ns, *over_link);
  return out;
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
  const auto products = timed(graph, cost, [&](const Operator& op) -> std::optional<double> {
    if (op.rank_work.matmul_flops <= 0) return 0.0;
    const auto of_op = shard_peak(*step.device, peak_dtype(step.convention, op), step.share);
    return of_op ? op.rank_work.matmul_flops / *of_op / seconds : 0.0;
  });
  out.executed = as_double(graph.micro_batches()) * products->stage(products->slowest_stage()).ns;
  return out;
}

}  // namespace halmark
