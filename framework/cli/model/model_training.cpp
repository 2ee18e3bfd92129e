// halmark model: what a training step adds to the forward pass, and the formula of one operator.
#include <fmt/format.h>

#include <algorithm>

#include "cli/console/terminal.hpp"
#include "cli/model/model_page.hpp"
#include "model/utilisation/explain.hpp"

namespace halmark::cli {
namespace {

Json memory_json(const TrainingMemory& rank) {
  return {{"weight_bytes", rank.weight_bytes},         {"gradient_bytes", rank.gradient_bytes},
          {"optimizer_bytes", rank.optimizer_bytes},   {"activation_bytes", rank.activation_bytes},
          {"working_bytes", rank.working_bytes},       {"total_bytes", rank.total()},
          {"micro_batches_in_flight", rank.in_flight}, {"trained_params", rank.trained_parameters}};
}

// What one rank sends and receives for a ring all-reduce of its gradients.
double ring_bytes(const TrainingMemory& rank, int copies) {
  return 2.0 * (copies - 1) / copies * static_cast<double>(rank.gradient_message_bytes);
}

std::size_t operator_named(const OperatorGraph& graph, const std::string& name) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    if (op.name == name || op.layer_type + '/' + op.name == name) return i;
    if (std::ranges::find(known, op.name) == known.end()) known.push_back(op.name);
  }
  throw refused("unknown operator '" + printable(name) + "'", {}, suggestion(name, known));
}

}  // namespace

ModelSection training_section(const ModelPage& page) {
  if (!page.is_training()) return {};
  const TrainingCost& cost = *page.cost;
  const TrainingPlan& plan = *page.training;
  const TrainingMemory& rank = largest(page.training_stages);
  const int copies = page.graph.configuration.parallel.dp *
                     page.graph.configuration.parallel.cp;  // of the weights
  Json stages = Json::array();
  for (const TrainingMemory& stage : page.training_stages) stages.push_back(memory_json(stage));
  const auto bytes = [](std::int64_t value) { return bytes_text(static_cast<double>(value)); };
  return {
      .data = {{"training",
                {{"recompute", std::string(recompute_name(plan.recompute))},
                 {"zero", plan.zero},
                 {"optimizer", std::string(optimizer_name(plan.optimizer))},
                 {"gradients", std::string(dtype_name(plan.gradient))},
                 {"lora_rank", plan.lora_rank},
                 {"sequence_parallel", plan.sequence_parallel},
                 {"micro_batch", page.graph.micro_batch()},
                 {"micro_batches", page.graph.micro_batches()},
                 {"forward_flops", cost.forward},
                 {"backward_flops", cost.backward},
                 {"recomputed_flops", cost.recomputed},
                 {"hardware_flops", cost.hardware_flops()},
                 {"memory", memory_json(rank)},
                 {"stages", stages},
                 {"gradient_message_bytes", rank.gradient_message_bytes},
                 {"gradient_ring_bytes_per_rank", ring_bytes(rank, copies)}}}},
      .text = fmt::format(
          "training: forward {:.3f} + backward {:.3f} GFLOP, recomputed ({}) {:.3f}; {} micro-"
          "batches of {}\n"
          "memory per rank {}: weights {}, gradients {}, optimizer ({}, ZeRO {}) {}, activations "
          "of {} micro-batches {}, working set {}\n"
          "gradients all-reduced over {} copies of the weights: {} a rank\n",
          cost.forward / 1e9, cost.backward / 1e9, recompute_name(plan.recompute),
          cost.recomputed / 1e9, page.graph.micro_batches(), page.graph.micro_batch(),
          bytes(rank.total()), bytes(rank.weight_bytes), bytes(rank.gradient_bytes),
          optimizer_name(plan.optimizer), plan.zero, bytes(rank.optimizer_bytes), rank.in_flight,
          bytes(rank.activation_bytes), bytes(rank.working_bytes), copies,
          bytes(rank.gradient_message_bytes))};
}

ModelSection explain_section(const ModelPage& page) {
  if (page.options.explain.empty()) return {};
  if (page.options.explain == "expected_tokens_per_step" && page.options.acceptance) {
    const std::string text = explain_tokens_per_step(page);
    return {.data = {{"explain", text}}, .text = text};
  }
  const std::size_t index = operator_named(page.graph, page.options.explain);
  const std::string text = explain_operator(page.graph, index, page.cost,
                                            operator_floor(page, page.graph.operators[index]));
  return {.data = {{"explain", text}}, .text = text};
}

}  // namespace halmark::cli
