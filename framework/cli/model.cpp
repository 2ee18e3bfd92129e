// halmark model: one step of a model on paper. Needs no device and loads no plugin.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "cli/command.hpp"
#include "cli/facts.hpp"
#include "cli/terminal.hpp"
#include "model/composer.hpp"
#include "model/graph.hpp"
#include "model/memory.hpp"
#include "model/model_spec.hpp"

namespace halmark::cli {
namespace {

struct Options {
  std::string model;
  DeploymentOptions deployment;
  std::string device;
  std::string peak = "datasheet";
  std::optional<double> measured_ms;
  bool list = false;
};

struct Priced {
  OperatorGraph graph;
  MemoryUse memory;
  std::optional<Device> device;
  ShardShare share;
};

// FLOP/s that the MFU divides by: every operator's FLOPs at the peak of its own precision.
struct Denominator {
  std::optional<double> ideal_ns;  // of the matmul FLOPs on all devices
  std::string reason;
};

Denominator denominator(const Priced& priced) {
  if (!priced.device) return {std::nullopt, "no device named (--device)"};
  double ns = 0;
  for (const Operator& op : priced.graph.operators) {
    if (op.matmul_flops <= 0) continue;
    const auto peak = shard_peak(*priced.device, op.dtype, priced.share);
    if (!peak) {
      return {std::nullopt,
              "no peak for " + std::string(dtype_name(op.dtype)) + " on " + priced.device->id};
    }
    ns += op.matmul_flops / *peak * 1e9;
  }
  return {ns / priced.graph.deployment.parallel.devices(), {}};
}

Json operator_json(const Operator& op, const Priced& priced) {
  const auto floor =
      priced.device ? work_floor(op.local_work, *priced.device, priced.share) : std::nullopt;
  const double executions = op.bytes_per_rank > 0 && op.local_work.bytes() > 0
                                ? op.bytes_per_rank / op.local_work.bytes()
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

Json mfu_json(const Priced& priced, const Options& options) {
  if (!options.measured_ms) return nullptr;
  const Denominator d = denominator(priced);
  Json out = {{"measured_ms", *options.measured_ms},
              {"peak_source", options.peak},
              {"peak_flops_per_s", nullptr},
              {"devices", priced.graph.deployment.parallel.devices()},
              {"model_pct", nullptr},
              {"executed_pct", nullptr},
              {"hfu_pct", nullptr},
              {"roofline_pct", nullptr}};
  if (!d.ideal_ns) {
    out["model_pct_reason"] = d.reason;
    return out;
  }
  const GraphTotals& totals = priced.graph.totals;
  const double measured_ns = *options.measured_ms * 1e6;
  const double devices = priced.graph.deployment.parallel.devices();
  const double peak = totals.matmul_flops / devices / *d.ideal_ns * 1e9;
  out["peak_flops_per_s"] = peak;
  out["model_pct"] = 100 * *d.ideal_ns / measured_ns;
  out["executed_pct"] = 100 * totals.matmul_flops_per_rank / peak * 1e9 / measured_ns;
  out["hfu_pct"] = out["model_pct"];
  return out;
}

Json experts_json(const OperatorGraph& g) {
  const ExpertUse& use = *g.expert_use;
  return {{"routed", g.spec.moe->experts},
          {"top_k", g.spec.moe->top_k},
          {"routing_skew", g.deployment.workload.routing_skew},
          {"active", use.active},
          {"held_per_rank", use.held_per_rank},
          {"active_per_rank", use.active_per_rank},
          {"imbalance", use.imbalance}};
}

std::string experts_text(const OperatorGraph& g) {
  if (!g.spec.moe) return {};
  const ExpertUse& use = *g.expert_use;
  return fmt::format(
      "experts {} of {} per token, routing skew {} %: {} of {} active in a step; a rank holds {}, "
      "the heaviest uses {} and has {:.3f} x the mean rows\n",
      g.spec.moe->top_k, g.spec.moe->experts, g.deployment.workload.routing_skew, use.active,
      g.spec.moe->experts, use.held_per_rank, use.active_per_rank, use.imbalance);
}

Json data_json(const Priced& priced, const Options& options) {
  const OperatorGraph& g = priced.graph;
  Json operators = Json::array();
  for (const Operator& op : g.operators) operators.push_back(operator_json(op, priced));
  Json out = {{"model",
               {{"id", g.spec.id},
                {"family", g.spec.family},
                {"source", g.spec.source},
                {"total_params", g.totals.parameters},
                {"active_params", g.totals.active_parameters},
                {"assumed", g.spec.assumed}}},
              {"workload", g.deployment.workload},
              {"parallel", g.deployment.parallel},
              {"precision", g.deployment.precision},
              {"convention",
               {{"flops", "per_matrix"},
                {"embedding", "out"},
                {"lm_head", "in, last position"},
                {"attention", "causal"},
                {"recompute", "out"},
                {"peak", "per_operator"}}},
              {"operators", operators},
              {"totals",
               {{"matmul_flops", g.totals.matmul_flops},
                {"flops", g.totals.flops},
                {"bytes", g.totals.bytes},
                {"flops_per_rank", g.totals.flops_per_rank},
                {"bytes_per_rank", g.totals.bytes_per_rank},
                {"weight_bytes_per_rank", priced.memory.largest.weight_bytes},
                {"kv_bytes_per_token", priced.memory.kv_bytes_per_token},
                {"memory_bytes_per_rank", priced.memory.largest.total()}}},
              {"mfu", mfu_json(priced, options)},
              {"warnings", g.warnings}};
  if (g.spec.moe) out["experts"] = experts_json(g);
  return out;
}

std::string human(const Priced& priced, const Options& options) {
  const OperatorGraph& g = priced.graph;
  const Workload& w = g.deployment.workload;
  std::string out = fmt::format(
      "{}  {} parameters ({} active), family {}\n{} batch {} new tokens {} context {}  {}  {}\n\n",
      g.spec.id, g.totals.parameters, g.totals.active_parameters, g.spec.family,
      phase_name(w.phase), w.batch, w.new_tokens, w.context, g.deployment.precision.name,
      g.deployment.parallel.text());
  TextTable table({"operator", "layer", "count", "dtype", "split", "in", "out", "GFLOP",
                   "GFLOP/rank", "MiB/rank", "bound"},
                  {false, false, true, false, false, false, false, true, true, true, false});
  for (const Operator& op : g.operators) {
    const auto floor =
        priced.device ? work_floor(op.local_work, *priced.device, priced.share) : std::nullopt;
    table.add({op.name, op.layer_type, std::to_string(op.count), std::string(dtype_name(op.dtype)),
               std::string(split_name(op.split)), op.shape_in, op.shape_out,
               fmt::format("{:.3f}", op.flops / 1e9),
               fmt::format("{:.3f}", op.flops_per_rank / 1e9),
               fmt::format("{:.2f}", op.bytes_per_rank / 0x1p20), floor ? floor->bound : "-"});
  }
  out += table.text();
  out += '\n' + experts_text(g);
  out += fmt::format(
      "matmul {:.3f} GFLOP a step; per rank {:.3f} GFLOP, {} moved\n"
      "memory per rank {}: weights {}, KV cache {} ({} per token of the model), activations {}\n",
      g.totals.matmul_flops / 1e9, g.totals.matmul_flops_per_rank / 1e9,
      bytes_text(g.totals.bytes_per_rank),
      bytes_text(static_cast<double>(priced.memory.largest.total())),
      bytes_text(static_cast<double>(priced.memory.largest.weight_bytes)),
      bytes_text(static_cast<double>(priced.memory.largest.kv_bytes)),
      bytes_text(static_cast<double>(priced.memory.kv_bytes_per_token)),
      bytes_text(static_cast<double>(priced.memory.largest.activation_bytes)));
  if (options.measured_ms) {
    const Json mfu = mfu_json(priced, options);
    out += mfu["model_pct"].is_null()
               ? "MFU unknown: " + mfu["model_pct_reason"].get<std::string>() + '\n'
               : fmt::format(
                     "MFU {:.4f} % at {} ms on {} x {} ({} peak; per_matrix, causal, head "
                     "in, embedding out, no recompute)\n",
                     mfu["model_pct"].get<double>(), *options.measured_ms,
                     g.deployment.parallel.devices(), priced.device->id, options.peak);
  }
  for (const std::string& field : g.spec.assumed) out += "assumed: " + field + '\n';
  for (const std::string& line : g.warnings) out += "warning: " + line + '\n';
  return out;
}

CommandResult list_known() {
  TextTable table({"id", "architecture", "aliases", "source"});
  Json data = Json::array();
  for (const ModelListing& m : list_models(config_dirs("models"))) {
    std::string aliases;
    for (const std::string& alias : m.aliases) aliases += (aliases.empty() ? "" : ", ") + alias;
    table.add({m.id, m.architecture, aliases, m.source});
    data.push_back({{"id", m.id},
                    {"aliases", m.aliases},
                    {"architecture", m.architecture},
                    {"source", m.source}});
  }
  return {.data = {{"models", data}}, .text = table.text()};
}

CommandResult execute(const Options& options) {
  if (options.list) return list_known();
  if (options.model.empty()) {
    throw refused("no model is named", {}, "name an id or a config.json; --list shows the ids");
  }
  const ModelSpec spec = load_model(options.model, config_dirs("models"));
  auto built = build_graph(spec, deployment_from(options.deployment, spec.id));
  if (const auto* refusal = std::get_if<Refusal>(&built)) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  Priced priced{.graph = std::get<OperatorGraph>(std::move(built))};
  priced.memory = memory_use(priced.graph);
  if (!options.device.empty()) priced.device = known_device(options.device);
  return {.data = data_json(priced, options), .text = human(priced, options)};
}

}  // namespace

Action add_model(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("model", options->model, "Shipped id, alias, or path of a config.json");
  app.add_flag("--list", options->list, "List the shipped models");
  add_deployment_options(app, options->deployment);
  app.add_option("--device", options->device, "Known device (halmark devices --known)");
  app.add_option("--peak", options->peak, "Denominator: datasheet or measured")
      ->check(CLI::IsMember({"datasheet", "measured"}));
  app.add_option("--measured-ms", options->measured_ms, "Measured step time, for MFU");
  return [options](const GlobalOptions&) { return execute(*options); };
}

}  // namespace halmark::cli
