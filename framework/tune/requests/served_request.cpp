#include "tune/requests/served_request.hpp"

#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "plan/asked_sweep.hpp"
#include "plan/device/device_file.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/search/priced/priced_sweep.hpp"

namespace halmark::tune {
namespace {

void check(const StepRequest& step, const ServedRequest& load) {
  std::string missing;
  for (const auto& [name, is_given] : {std::pair("--device ID", !step.device.empty()),
                                       std::pair("--concurrency N", load.concurrency > 0),
                                       std::pair("--input TOKENS", load.input_tokens > 0),
                                       std::pair("--output TOKENS", load.output_tokens > 0)}) {
    if (!is_given) append_item(missing, ", ", name);
  }
  if (!missing.empty()) {
    throw refused("a served load lacks a part of its description", "--concurrency",
                  "add " + missing);
  }
  const DeploymentOptions& c = step.configuration;
  const StepQuestion& q = step.question;
  const bool has_step = (!c.phase.empty() && c.phase != "decode") || c.batch != 1 ||
                        c.new_tokens != 0 || c.context != 0 || !c.stages.empty() ||
                        c.expert_imbalance != "balanced" || step.cp != 1;
  const bool has_question = q.measured_ms || q.tokens_per_s || q.drafted != 0 ||
                            q.wants_longest_context || q.form.delta_chunk != 0 ||
                            !q.convention.empty() || !q.switches.empty() || q.peak != "datasheet";
  if (!has_step && !has_question && !step.training.has_any()) return;
  throw refused(
      "--concurrency, --input and --output describe requests, and other words a single step", {},
      "leave out --phase, --batch, --context and what is measured of a step");
}

// The sweep that `halmark tune` makes of the same words, at one load and in one precision.
Sweep sweep_of(const StepRequest& step, const ServedRequest& load, const Device& device) {
  const DeploymentOptions& c = step.configuration;
  const std::int64_t stated = std::int64_t{c.dp} * c.tp * c.pp;
  Sweep out = parse_sweep(asked_sweep_text({.model = step.model,
                                            .device = step.device,
                                            .devices = step.devices.value_or(stated),
                                            .input_tokens = load.input_tokens,
                                            .output_tokens = load.output_tokens,
                                            .concurrency = {load.concurrency}},
                                           device),
                          "the command line");
  std::string precision = c.dtype;
  for (const char letter : c.precision.empty() ? "" : ',' + c.precision) {
    precision += letter == ',' ? '+' : letter;
  }
  out.precisions = {precision};
  out.fused_qkv = step.fused_qkv;
  out.routing_skew = c.routing_skew;
  out.fabric = step.fabric;
  out.fabric_where = "--fabric";
  if (!step.latency.empty()) out.latency = step.latency;
  return out;
}

// Degrees above 1 are kept.
bool has_degrees(const Parallel& parallel, const DeploymentOptions& stated) {
  return (stated.dp == 1 || parallel.dp == stated.dp) &&
         (stated.tp == 1 || parallel.tp == stated.tp) &&
         (stated.pp == 1 || parallel.pp == stated.pp) &&
         (stated.ep == 1 || parallel.ep == stated.ep);
}

}  // namespace

ServedReport served_report_of(const Sweep& sweep, const StepFolders& folders,
                              const NamedEngine& engine) {
  const PricedSweep priced(sweep, latency_choice(sweep, {.engine = engine}), folders.models,
                           folders.devices, folders.fabrics);
  return std::get<ServedReport>(priced.search({}, {}));
}

BestServed best_served(const StepRequest& step, const ServedRequest& load,
                       const StepFolders& folders) {
  check(step, load);
  require_context(load_model(step.model, folders.models), load.input_tokens, load.output_tokens);
  const Device device = known_device(step.device, folders.devices);
  Sweep sweep = sweep_of(step, load, device);
  BestServed out{.device = device.id, .device_bytes = device.memory_bytes};
  const NamedEngine engine = parse_engine(step.engine);
  out.report = served_report_of(sweep, folders, engine);
  for (const Evaluation& e : out.report.tried) {
    if (!e.served || !has_degrees(e.configuration.parallel, step.configuration)) continue;
    ++out.layouts;
    if (out.estimate && out.estimate->figures.tokens_per_s >= e.served->figures.tokens_per_s)
      continue;
    out.estimate = e.served;
    out.configuration = e.configuration;
  }
  if (!out.estimate) {
    if (!out.report.tried.empty()) out.configuration = out.report.tried.front().configuration;
    return out;
  }
  sweep.latency = {"roofline"};
  for (const Evaluation& e : served_report_of(sweep, folders).tried) {
    if (e.served && e.configuration == out.configuration) {
      out.best_per_s = e.served->figures.tokens_per_s;
    }
  }
  return out;
}

}  // namespace halmark::tune
