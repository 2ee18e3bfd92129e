// halmark model: who the model is, what one step executes, and what its routing does.
#include <fmt/format.h>

#include "cli/console/terminal.hpp"
#include "cli/model/model_page.hpp"

namespace halmark::cli {
namespace {

// In the text only where there are any.
std::string prediction_text(const ModelSpec& spec) {
  const std::int64_t parameters = prediction_parameters(spec);
  if (parameters == 0) return {};
  return fmt::format("{} prediction module(s) of {} parameters in all, beside these\n",
                     spec.prediction_modules, parameters);
}

}  // namespace

std::string summary_text(const ModelPage& page) {
  const OperatorGraph& g = page.step.graph;
  const Workload& w = g.configuration.workload;
  return fmt::format(
      "{}  {} parameters ({} active), family {}\n"
      "{}{} batch {} new tokens {} context {}  {}  {}\n\n",
      g.spec.id, g.totals.parameters, g.totals.active_parameters, g.spec.family,
      prediction_text(g.spec), phase_name(w.phase), w.batch, w.new_tokens, w.context,
      g.configuration.precision.name, g.configuration.parallel.text());
}

std::string operators_text(const ModelPage& page) {
  TextTable table({"operator", "layer", "count", "dtype", "split", "in", "out", "GFLOP",
                   "GFLOP/rank", "MiB/rank", "bound"},
                  {false, false, true, false, false, false, false, true, true, true, false});
  for (std::size_t i = 0; i < page.step.graph.operators.size(); ++i) {
    const Operator& op = page.step.graph.operators[i];
    const OperatorFigures row = operator_figures(page.step, i);
    table.add({op.name, op.layer_type, std::to_string(op.count), std::string(dtype_name(op.dtype)),
               std::string(split_name(op.split)), op.shape_in, op.shape_out,
               fmt::format("{:.3f}", row.flops / 1e9),
               fmt::format("{:.3f}", row.flops_per_rank / 1e9),
               fmt::format("{:.2f}", row.bytes_per_rank / 0x1p20),
               row.floor ? std::string(limiter_name(row.floor->limiter)) : "-"});
  }
  return table.text() + '\n';
}

std::string experts_text(const ModelPage& page) {
  const OperatorGraph& g = page.step.graph;
  if (!g.spec.moe) return {};
  const ExpertUse& use = *g.expert_use;
  return fmt::format(
      "experts {} of {} per token, routing skew {} %: {} of {} active in a step; a rank holds {}, "
      "the heaviest uses {} and has {:.3f} x the mean rows\n",
      g.spec.moe->top_k, g.spec.moe->experts, g.configuration.workload.routing_skew, use.active,
      g.spec.moe->experts, use.held_per_rank, use.active_per_rank, use.imbalance);
}

}  // namespace halmark::cli
