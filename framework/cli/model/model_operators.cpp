// halmark model: who the model is, what one step executes, and what its routing does.
#include <fmt/format.h>

#include "cli/console/terminal.hpp"
#include "cli/model/model_page.hpp"
#include "model/utilisation/utilisation.hpp"

namespace halmark::cli {
namespace {

// A row of the table. Training: whole = forward and backward; per rank = what is executed,
// recomputation included.
struct Row {
  double flops = 0, flops_per_rank = 0, bytes = 0, bytes_per_rank = 0;
  std::optional<RooflineEstimate> floor;  // of one execution
  std::optional<double> lower_bound_us;
};

Row row_of(const ModelPage& page, std::size_t index) {
  const Operator& op = page.graph.operators[index];
  const OperatorTraining* cost = page.cost ? &page.cost->operators[index] : nullptr;
  const double model = cost != nullptr ? cost->model_passes : 1;
  const double executed = cost != nullptr ? cost->passes : 1;
  const double executions = op.bytes_per_rank > 0 && op.rank_work.bytes() > 0
                                ? op.bytes_per_rank / op.rank_work.bytes()
                                : static_cast<double>(op.count);
  Row row{.flops = model * op.flops,
          .flops_per_rank = executed * op.flops_per_rank,
          .bytes = model * op.bytes,
          .bytes_per_rank = executed * op.bytes_per_rank,
          .floor = operator_floor(page, op)};
  if (row.floor) row.lower_bound_us = row.floor->ns * executions * executed / 1e3;
  return row;
}

Json operator_json(const ModelPage& page, std::size_t index) {
  const Operator& op = page.graph.operators[index];
  const Row row = row_of(page, index);
  Json out = {{"name", op.name},
              {"layer_type", op.layer_type},
              {"count", op.count},
              {"dtype", std::string(dtype_name(op.dtype))},
              {"peak_dtype", std::string(dtype_name(peak_dtype_of(page, op)))},
              {"flops", row.flops},
              {"flops_per_rank", row.flops_per_rank},
              {"bytes", row.bytes},
              {"bytes_per_rank", row.bytes_per_rank},
              {"split", std::string(split_name(op.split))},
              {"shape_in", op.shape_in},
              {"shape_out", op.shape_out},
              {"bound", row.floor ? Json(limiter_name(row.floor->limiter)) : Json(nullptr)},
              {"lower_bound_us", optional_number(row.lower_bound_us)},
              {"strategy", op.strategy}};
  if (page.cost) {
    const OperatorTraining& cost = page.cost->operators[index];
    out["flops_forward"] = cost.forward;
    out["flops_backward"] = cost.backward;
    out["flops_recomputed"] = cost.recomputed;
  }
  return out;
}

// null for checkpoints without packed weights.
Json weight_format_json(const ModelSpec& spec) {
  if (!spec.packed) return nullptr;
  const PackedFormat& f = *spec.packed;
  return {{"name", f.name()},
          {"block", f.block},
          {"experts", f.packs_experts},
          {"attention", f.packs_attention},
          {"feed_forward", f.packs_feed_forward},
          {"activations", f.packs_activations}};
}

// In the text only where there are any.
std::string prediction_text(const ModelSpec& spec) {
  const std::int64_t parameters = prediction_parameters(spec);
  if (parameters == 0) return {};
  return fmt::format("{} prediction module(s) of {} parameters in all, beside these\n",
                     spec.prediction_modules, parameters);
}

// The degree that stored rows leave out where it is 1 is always shown.
Json parallel_json(const OperatorGraph& graph) {
  Json out = graph.configuration.parallel;
  out["cp"] = graph.configuration.parallel.cp;
  return out;
}

Json convention_json(const ModelPage& page) {
  Json out = {{"name", page.convention.name}};
  for (const auto& [name, value] : switches(page.convention)) out[name] = value;
  out["line"] = page.convention.line();
  out["flops_per_step"] = step_flops(page.graph, page.convention, page.training);
  return out;
}

}  // namespace

Dtype peak_dtype_of(const ModelPage& page, const Operator& op) {
  return page.device ? multiplying_dtype(*page.device, op.dtype) : op.dtype;
}

std::optional<RooflineEstimate> operator_floor(const ModelPage& page, const Operator& op) {
  return page.device ? roofline_estimate(op.rank_work, *page.device, page.share) : std::nullopt;
}

ModelSection summary_section(const ModelPage& page) {
  const OperatorGraph& g = page.graph;
  const Workload& w = g.configuration.workload;
  return {.data = {{"model",
                    {{"id", g.spec.id},
                     {"family", g.spec.family},
                     {"source", g.spec.source},
                     {"total_params", g.totals.parameters},
                     {"active_params", g.totals.active_parameters},
                     {"prediction_modules", g.spec.prediction_modules},
                     {"prediction_params", prediction_parameters(g.spec)},
                     {"weight_format", weight_format_json(g.spec)},
                     {"assumed", g.spec.assumed}}},
                   {"workload", w},
                   {"parallel", parallel_json(g)},
                   {"precision", g.configuration.precision},
                   {"convention", convention_json(page)}},
          .text = fmt::format("{}  {} parameters ({} active), family {}\n"
                              "{}{} batch {} new tokens {} context {}  {}  {}\n\n",
                              g.spec.id, g.totals.parameters, g.totals.active_parameters,
                              g.spec.family, prediction_text(g.spec), phase_name(w.phase), w.batch,
                              w.new_tokens, w.context, g.configuration.precision.name,
                              g.configuration.parallel.text())};
}

ModelSection operators_section(const ModelPage& page) {
  Json rows = Json::array();
  TextTable table({"operator", "layer", "count", "dtype", "split", "in", "out", "GFLOP",
                   "GFLOP/rank", "MiB/rank", "bound"},
                  {false, false, true, false, false, false, false, true, true, true, false});
  for (std::size_t i = 0; i < page.graph.operators.size(); ++i) {
    const Operator& op = page.graph.operators[i];
    rows.push_back(operator_json(page, i));
    const Row row = row_of(page, i);
    table.add({op.name, op.layer_type, std::to_string(op.count), std::string(dtype_name(op.dtype)),
               std::string(split_name(op.split)), op.shape_in, op.shape_out,
               fmt::format("{:.3f}", row.flops / 1e9),
               fmt::format("{:.3f}", row.flops_per_rank / 1e9),
               fmt::format("{:.2f}", row.bytes_per_rank / 0x1p20),
               row.floor ? std::string(limiter_name(row.floor->limiter)) : "-"});
  }
  return {.data = {{"operators", rows}}, .text = table.text() + '\n'};
}

ModelSection experts_section(const ModelPage& page) {
  const OperatorGraph& g = page.graph;
  if (!g.spec.moe) return {};
  const ExpertUse& use = *g.expert_use;
  const std::int64_t skew = g.configuration.workload.routing_skew;
  return {.data = {{"experts",
                    {{"routed", g.spec.moe->experts},
                     {"top_k", g.spec.moe->top_k},
                     {"routing_skew", skew},
                     {"active", use.active},
                     {"held_per_rank", use.held_per_rank},
                     {"active_per_rank", use.active_per_rank},
                     {"imbalance", use.imbalance}}}},
          .text = fmt::format("experts {} of {} per token, routing skew {} %: {} of {} active in a "
                              "step; a rank holds {}, the heaviest uses {} and has {:.3f} x the "
                              "mean rows\n",
                              g.spec.moe->top_k, g.spec.moe->experts, skew, use.active,
                              g.spec.moe->experts, use.held_per_rank, use.active_per_rank,
                              use.imbalance)};
}

}  // namespace halmark::cli
