#include "cli/tune_latency.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "cli/served_search.hpp"
#include "core/error.hpp"
#include "core/version.hpp"
#include "model/pricing/composer.hpp"
#include "model/pricing/memory.hpp"
#include "model/serving/serving_space.hpp"
#include "report/report.hpp"
#include "search/deployment_front.hpp"

namespace halmark::cli {

namespace {

std::string tool_text() { return fmt::format("halmark {} ({})", tool_version, tool_build); }

Device target_of(const LatencyChoice& choice) {
  if (!choice.device.empty()) {
    try {
      return known_device(choice.device);
    } catch (const Error& error) {
      if (!error.where().empty()) throw;
      throw refused(error.what(), choice.device_where, error.remedy());
    }
  }
  throw refused("times that are not measured here need a device", choice.where,
                "name one by --device-file or device_file: an id of halmark devices --known, or a "
                "file");
}

std::vector<std::string> basis(const Sweep& sweep, const Device& device,
                               const PricedLatencies& latencies) {
  std::vector<std::string> out = {
      fmt::format("{} ({}), {}", device.name, device.id,
                  latencies.chain.has(SourceKind::journal)
                      ? "not touched now: measured times are those of its journal"
                      : "never touched: nothing below was measured on it")};
  for (std::string& line : latencies.basis()) out.push_back("times: " + std::move(line));
  if (const auto& network = sweep.serving_devices.network_bytes_per_s) {
    out.push_back(fmt::format("network between link domains: {} GB/s per device", *network / 1e9));
  }
  return out;
}

CommandResult served_result(const GlobalOptions& global, const Sweep& sweep, const Device& device,
                            const PricedLatencies& latencies, const std::vector<std::string>& out,
                            const std::string& command) {
  ServedReport report = search_served(sweep, device, latencies);
  report.command = command;
  report.tool = tool_text();
  report.basis = basis(sweep, device, latencies);
  CommandResult result{.data = served_json(report), .text = served_text(report, use_color(global))};
  for (const std::string& path : out) {
    write_served_report(report, path);
    result.text += "written: " + path + '\n';
  }
  return result;
}

// Steps of [[workload]]: every layout of every number of shards, composed as if measured.
std::vector<Evaluation> evaluate_steps(const Sweep& sweep, const ModelSpec& spec,
                                       const Device& device, const PricedLatencies& latencies) {
  const auto wants = [&](const char* name) {
    return std::ranges::find(sweep.strategies, name) != sweep.strategies.end();
  };
  ServingSpace space{.request = {},
                     .concurrency = {},
                     .token_budgets = {},
                     .modes = {},
                     .precisions = {},
                     .devices = sweep.shards,
                     .has_data = wants("data"),
                     .has_tensor = wants("tensor"),
                     .has_pipeline = wants("pipeline"),
                     .has_expert = wants("expert"),
                     .routing_skew = sweep.routing_skew};
  const PrecisionFacts facts = precision_facts(spec, computes_bf16(device));
  for (const SweepWorkload& w : sweep.workloads) {
    for (const Precision& precision : precisions_of(sweep, w, facts)) {
      space.precisions.push_back(precision);
    }
  }
  const double usable =
      static_cast<double>(device.memory_bytes) * sweep.serving_devices.memory_fraction;
  std::vector<Evaluation> out;
  for (const std::int64_t devices : sweep.shards) {
    for (const Parallel& parallel : serving_layouts(spec, space, devices)) {
      for (const SweepWorkload& w : sweep.workloads) {
        for (const Precision& precision : precisions_of(sweep, w, facts)) {
          for (const std::int64_t batch : w.batches) {
            const Configuration configuration{
                spec.id,
                parallel,
                precision,
                {w.phase, batch, w.new_tokens, w.context, sweep.routing_skew}};
            auto built = build_graph(spec, configuration);
            auto* graph = std::get_if<OperatorGraph>(&built);
            if (graph == nullptr) continue;
            if (const auto short_of =
                    check_memory(memory_use(*graph), static_cast<std::int64_t>(usable))) {
              out.push_back({.configuration = configuration,
                             .status = Status::refused,
                             .reason = short_of->text,
                             .estimate = {},
                             .measured_ns = {},
                             .measured_interval_ns = {}});
              continue;
            }
            const Composer composer(
                std::move(*graph), {.backend = device.id, .parts = 1},
                {.measured = {}, .datasheet = device, .shard = {}, .launch_floor_ns = {}});
            out.push_back(composer.compose(latencies.chain));
          }
        }
      }
    }
  }
  return out;
}

CommandResult step_result(const GlobalOptions& global, const Sweep& sweep, const Device& device,
                          const PricedLatencies& latencies, const std::vector<std::string>& out,
                          const std::string& command) {
  const ModelSpec spec = load_model(sweep.model, config_dirs("models"));
  RunReport report;
  report.title = sweep.name;
  report.model = spec.id;
  report.command = command;
  report.tool = tool_text();
  report.evaluations = evaluate_steps(sweep, spec, device, latencies);
  report.machine = basis(sweep, device, latencies);  // says what was quarantined on the way
  for (const Objective o : sweep.objectives) {
    report.objectives.emplace_back(objective_name(o));
  }
  for (const std::size_t i : deployment_front(report.evaluations, sweep.objectives)) {
    report.front.push_back({.evaluation = i, .is_suspect = false, .ties = {}});
  }
  if (report.front.empty()) {
    throw refused("no configuration of this sweep is possible on " + device.id, sweep.file,
                  report.evaluations.empty() ? "" : report.evaluations.front().reason);
  }
  CommandResult result{.data = report_json(report), .text = report_text(report, use_color(global))};
  for (const std::string& path : out) {
    write_report(report, path);
    result.text += "written: " + path + '\n';
  }
  return result;
}

}  // namespace

LatencyChoice latency_choice(const Sweep& sweep, LatencyChoice given) {
  if (given.sources.empty()) {
    given.sources = sweep.latency;
    given.where = sweep.latency_where;
    if (given.sources.empty() && sweep.served) {
      throw refused("[request] is priced, and no source of times is named", sweep.file,
                    "add --latency or latency: roofline, imported:FILE, interpolated");
    }
  } else {
    given.where = "--latency";
  }
  if (given.device.empty()) {
    given.device = sweep.serving_devices.file;
    given.device_where = sweep.serving_devices.file_where;
  } else {
    given.device_where = "--device-file";
  }
  return given;
}

CommandResult tune_by_latency(const GlobalOptions& global, const Sweep& sweep,
                              const LatencyChoice& choice, const std::vector<std::string>& out,
                              const std::string& command) {
  const Device device = target_of(choice);
  if (sweep.sampler != "grid") {
    throw refused("sampler '" + sweep.sampler + "' has nothing to choose", sweep.file,
                  "what is not measured is priced whole: leave the sampler out, or take grid");
  }
  if (sweep.shards.empty()) {
    throw refused("shards is not given", sweep.file,
                  "state numbers of devices: shards = [8, 16, 32]");
  }
  const PricedLatencies latencies =
      priced_latencies(choice, device, sweep.serving_devices.network_bytes_per_s);
  return (sweep.served ? served_result : step_result)(global, sweep, device, latencies, out,
                                                      command);
}

}  // namespace halmark::cli
