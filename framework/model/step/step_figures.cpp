// Figures of a priced step, each computed once for whatever prints it.
#include <algorithm>

#include "core/lists.hpp"
#include "model/pricing/engine_memory.hpp"
#include "model/step/priced_step.hpp"

namespace halmark {
namespace {

double draft_flops(const OperatorGraph& graph) {
  double out = 0;
  for (const Operator& op : graph.operators) {
    if (graph.is_prediction(op)) out += op.matmul_flops;
  }
  return out;
}

// Decode without speculation yields one token a sequence and step.
std::optional<double> tokens_per_s(const PricedStep& step, double tokens_per_step) {
  if (!step.question.measured_ms) return std::nullopt;
  const auto sequences = as_double(step.graph.configuration.workload.batch);
  return sequences * tokens_per_step * 1e3 / *step.question.measured_ms;
}

// The most used one, until a step is asked of another.
constexpr std::string_view usual_engine = "vllm";

std::optional<EngineFit> engine_fit(const OperatorGraph& graph, const RankMemory& rank,
                                    const Device& device) {
  if (device.kind != "gpu") return std::nullopt;
  const auto kept =
      engine_memory(usual_engine, device, graph.configuration.parallel.tp, graph.spec.vocab, 0);
  return EngineFit{
      .engine = usual_engine,
      .needed_bytes = rank.weight_bytes + rank.kv_bytes + kept->kept_bytes(rank.activation_bytes),
      .may_use_bytes = as_int64(kept->share * as_double(device.memory_bytes))};
}

}  // namespace

OperatorFigures operator_figures(const PricedStep& step, std::size_t index) {
  const Operator& op = step.graph.operators[index];
  const OperatorTraining* cost = step.cost ? &step.cost->operators[index] : nullptr;
  const double model = cost != nullptr ? cost->model_passes : 1;
  const double executed = cost != nullptr ? cost->passes : 1;
  const double executions = op.bytes_per_rank > 0 && op.rank_work.bytes() > 0
                                ? op.bytes_per_rank / op.rank_work.bytes()
                                : as_double(op.count);
  OperatorFigures out{.flops = model * op.flops,
                      .flops_per_rank = executed * op.flops_per_rank,
                      .bytes = model * op.bytes,
                      .bytes_per_rank = executed * op.bytes_per_rank,
                      .floor = operator_floor(step, op)};
  if (out.floor) out.lower_bound_us = out.floor->ns * executions * executed / 1e3;
  return out;
}

Dtype peak_dtype_of(const PricedStep& step, const Operator& op) {
  return step.device ? multiplying_dtype(*step.device, op.dtype) : op.dtype;
}

std::optional<RooflineEstimate> operator_floor(const PricedStep& step, const Operator& op) {
  if (!step.device) return std::nullopt;
  const auto index = as_size(&op - step.graph.operators.data());
  const auto* at = find_value(step.over_fabric, index);
  if (!step.expected.empty() || !at) {
    return best_estimate(op, *step.device, step.share);
  }
  auto out = roofline_estimate(op.rank_work, *step.device, step.share);
  if (out) out->ns = std::max(out->ns, at->ns);
  return out;
}

std::int64_t Fit::short_by_bytes() const {
  return std::max<std::int64_t>(0, needed_bytes - device_bytes.value_or(needed_bytes));
}

std::optional<Fit> fit_of(const PricedStep& step) {
  if (!step.device) return std::nullopt;
  if (!step.is_training()) return fit_of(step.graph, step.memory, *step.device);
  Fit out{.needed_bytes = step.memory_bytes()};
  if (step.device->memory_bytes > 0) out.device_bytes = step.device->memory_bytes;
  return out;
}

Fit fit_of(const OperatorGraph& graph, const MemoryUse& memory, const Device& device) {
  Fit out{.needed_bytes = memory.largest.total()};
  if (device.memory_bytes <= 0) return out;
  out.device_bytes = device.memory_bytes;
  out.engine = engine_fit(graph, memory.largest, device);
  return out;
}

double tokens_of(const PricedStep& step) {
  const Workload& w = step.graph.configuration.workload;
  if (w.phase != Phase::decode) return as_double(w.batch * w.new_tokens);
  const double accepted = step.question.acceptance.value_or(0);
  return as_double(w.batch) * expected_tokens_per_step(step.graph.drafted, accepted);
}

double accepted_over_drafted(std::int64_t drafted, double acceptance) {
  return (expected_tokens_per_step(drafted, acceptance) - 1) / as_double(drafted);
}

std::optional<SpeculationFigures> speculation_of(const PricedStep& step) {
  const OperatorGraph& g = step.graph;
  if (g.drafted == 0 || step.is_training()) return std::nullopt;
  SpeculationFigures out{.draft_flops = draft_flops(g)};
  out.verify_flops = g.totals.matmul_flops - out.draft_flops;
  if (!step.question.acceptance) return out;
  out.tokens_per_step = expected_tokens_per_step(g.drafted, *step.question.acceptance);
  out.accepted_over_drafted = accepted_over_drafted(g.drafted, *step.question.acceptance);
  out.tokens_per_s = tokens_per_s(step, *out.tokens_per_step);
  out.tokens_per_s_none_accepted = tokens_per_s(step, 1);
  return out;
}

double prediction_flops(const PricedStep& step) {
  if (!step.cost) return 0;
  double out = 0;
  for (const auto i : indices(step.graph.operators)) {
    const Operator& op = step.graph.operators[i];
    if (!step.graph.is_prediction(op)) continue;
    out +=
        step.cost->operators[i].model_passes * op.matmul_flops + step.cost->operators[i].adapters;
  }
  return out;
}

StepUtilisation utilisation_of(const PricedStep& step) {
  return utilisation(step.graph, {.ns = *step.question.measured_ms * 1e6,
                                  .device = step.device,
                                  .share = step.share,
                                  .convention = step.convention,
                                  .training = step.training});
}

int weight_copies(const PricedStep& step) {
  return step.graph.configuration.parallel.dp * step.graph.configuration.parallel.cp;
}

double gradient_ring_bytes(const PricedStep& step) {
  const int copies = weight_copies(step);
  return 2.0 * (copies - 1) / copies *
         as_double(largest(step.training_stages).gradient_message_bytes);
}

}  // namespace halmark
