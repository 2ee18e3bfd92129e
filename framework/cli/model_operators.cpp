// halmark model: who the model is, what one step executes, and what its routing does.
#include <fmt/format.h>

#include "cli/model_page.hpp"
#include "cli/terminal.hpp"

namespace halmark::cli {
namespace {

Json operator_json(const Operator& op, const ModelPage& page) {
  const auto floor = operator_floor(page, op);
  const double executions = op.bytes_per_rank > 0 && op.rank_work.bytes() > 0
                                ? op.bytes_per_rank / op.rank_work.bytes()
                                : static_cast<double>(op.count);
  return {{"name", op.name},
          {"layer_type", op.layer_type},
          {"count", op.count},
          {"dtype", std::string(dtype_name(op.dtype))},
          {"flops", op.flops},
          {"flops_per_rank", op.flops_per_rank},
          {"bytes", op.bytes},
          {"bytes_per_rank", op.bytes_per_rank},
          {"split", std::string(split_name(op.split))},
          {"shape_in", op.shape_in},
          {"shape_out", op.shape_out},
          {"bound", floor ? Json(floor->bound) : Json(nullptr)},
          {"lower_bound_us", floor ? Json(floor->ns * executions / 1e3) : Json(nullptr)},
          {"strategy", op.strategy}};
}

}  // namespace

std::optional<Floor> operator_floor(const ModelPage& page, const Operator& op) {
  return page.device ? work_floor(op.rank_work, *page.device, page.share) : std::nullopt;
}

ModelSection summary_section(const ModelPage& page) {
  const OperatorGraph& g = page.graph;
  const Workload& w = g.deployment.workload;
  return {.data = {{"model",
                    {{"id", g.spec.id},
                     {"family", g.spec.family},
                     {"source", g.spec.source},
                     {"total_params", g.totals.parameters},
                     {"active_params", g.totals.active_parameters},
                     {"assumed", g.spec.assumed}}},
                   {"workload", w},
                   {"parallel", g.deployment.parallel},
                   {"precision", g.deployment.precision},
                   {"convention",
                    {{"flops", "per_matrix"},
                     {"embedding", "out"},
                     {"lm_head",
                      w.phase == Phase::training ? "in, all positions" : "in, last position"},
                     {"attention", "causal"},
                     {"recompute", "out"},
                     {"peak", "per_operator"}}}},
          .text = fmt::format("{}  {} parameters ({} active), family {}\n"
                              "{} batch {} new tokens {} context {}  {}  {}\n\n",
                              g.spec.id, g.totals.parameters, g.totals.active_parameters,
                              g.spec.family, phase_name(w.phase), w.batch, w.new_tokens, w.context,
                              g.deployment.precision.name, g.deployment.parallel.text())};
}

ModelSection operators_section(const ModelPage& page) {
  Json rows = Json::array();
  TextTable table({"operator", "layer", "count", "dtype", "split", "in", "out", "GFLOP",
                   "GFLOP/rank", "MiB/rank", "bound"},
                  {false, false, true, false, false, false, false, true, true, true, false});
  for (const Operator& op : page.graph.operators) {
    rows.push_back(operator_json(op, page));
    const auto floor = operator_floor(page, op);
    table.add({op.name, op.layer_type, std::to_string(op.count), std::string(dtype_name(op.dtype)),
               std::string(split_name(op.split)), op.shape_in, op.shape_out,
               fmt::format("{:.3f}", op.flops / 1e9),
               fmt::format("{:.3f}", op.flops_per_rank / 1e9),
               fmt::format("{:.2f}", op.bytes_per_rank / 0x1p20), floor ? floor->bound : "-"});
  }
  return {.data = {{"operators", rows}}, .text = table.text() + '\n'};
}

ModelSection experts_section(const ModelPage& page) {
  const OperatorGraph& g = page.graph;
  if (!g.spec.moe) return {};
  const ExpertUse& use = *g.expert_use;
  const std::int64_t skew = g.deployment.workload.routing_skew;
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
