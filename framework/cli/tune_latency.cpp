// Prices a sweep on times that are known, and prints what the search over them found.
#include "cli/tune_latency.hpp"

#include <fmt/format.h>

#include "cli/console/facts.hpp"
#include "cli/console/interrupt.hpp"
#include "cli/console/terminal.hpp"
#include "cli/plan_view.hpp"
#include "core/text/error.hpp"
#include "core/version.hpp"
#include "tune/search/priced_search.hpp"
#include "tune/search/served_search.hpp"

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

// What both kinds of sweeps are searched with.
struct PricedSweep {
  const GlobalOptions& global;
  const Sweep& sweep;
  const PricingOutput& output;
  const tune::TunePlan& plan;
  const PricedLatencies& latencies;
};

CommandResult served_result(const PricedSweep& p) {
  Progress progress(p.global, "search");
  const std::uint64_t total =
      p.sweep.trials > 0 ? static_cast<std::uint64_t>(p.sweep.trials) : p.plan.configurations();
  ServedReport report = tune::search_served(
      p.plan, p.latencies.chain,
      {.usd_per_device_hour = p.sweep.serving_devices.usd_per_device_hour,
       .transfer_bytes_per_s = p.latencies.transfer_bytes_per_s},
      interrupted, [&](std::size_t done) { progress.step(done, total, 0, "configurations", -1); });
  progress.finish();
  report.command = p.output.command;
  report.tool = tool_text();
  report.basis = basis(p.sweep, *p.plan.target().datasheet, p.latencies);
  CommandResult result{.data = served_json(report),
                       .text = served_text(report, use_color(p.global))};
  for (const std::string& path : p.output.files) {
    write_served_report(report, path);
    result.text += "written: " + path + '\n';
  }
  return result;
}

CommandResult step_result(const PricedSweep& p) {
  RunReport report = tune::search_steps(p.plan, p.latencies.chain, interrupted);
  report.command = p.output.command;
  report.tool = tool_text();
  report.machine = basis(p.sweep, *p.plan.target().datasheet, p.latencies);
  CommandResult result{.data = report_json(report),
                       .text = report_text(report, use_color(p.global))};
  for (const std::string& path : p.output.files) {
    write_report(report, path);
    result.text += "written: " + path + '\n';
  }
  return result;
}

tune::Target priced_target(const Sweep& sweep, Device device) {
  const double usable =
      static_cast<double>(device.memory_bytes) * sweep.serving_devices.memory_fraction;
  tune::Target out;
  out.backend = device.id;
  out.datasheet = std::move(device);
  out.memory_bytes = static_cast<std::int64_t>(usable);
  return out;
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
                              const LatencyChoice& choice, const PricingOutput& output) {
  const Device device = target_of(choice);
  if (sweep.sampler == tune::certify_sampler) {
    throw refused("certify measures kernels, and nothing is measured here", sweep.sampler_where,
                  "take another sampler, or leave --latency out");
  }
  if (sweep.shards.empty()) {
    throw refused("shards is not given", sweep.file,
                  "state numbers of devices: shards = [8, 16, 32]");
  }
  ModelSpec spec = load_model(sweep.model, config_dirs("models"));
  const PrecisionFacts precisions = precision_facts(spec, computes_bf16(device));
  const tune::TunePlan plan(sweep, std::move(spec), priced_target(sweep, device), sweep.shards,
                            precisions, false);
  if (output.is_plan_only) return {.data = plan_json(plan), .text = plan_report(plan)};
  const PricedLatencies latencies =
      priced_latencies(choice, device, sweep.serving_devices.network_bytes_per_s);
  const PricedSweep priced{global, sweep, output, plan, latencies};
  CommandResult result = sweep.served ? served_result(priced) : step_result(priced);
  if (interrupted()) result.exit_code = interrupt_exit_code();
  return result;
}

}  // namespace halmark::cli
