#include "cli/console/session.hpp"

#include <algorithm>
#include <iterator>

#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"
#include "core/version.hpp"
#include "journal/place.hpp"
#include "tune/evaluate/machine_peaks.hpp"
#include "tune/search/kernels/device_peaks.hpp"
#include "tune/stored/stored_winners.hpp"

namespace halmark::cli {

std::vector<MachineIdentity> identities_of(const GlobalOptions& global,
                                           const LocalMachine& machine) {
  std::vector<MachineIdentity> out = {machine.identity()};
  for (const FoundPlugin& plugin : find_plugins(global)) {
    if (!plugin.is_loaded()) continue;
    for (const protocol::DeviceDescription& device : plugin.description->devices) {
      const std::string fingerprint = machine.machine.fingerprint_on(device);
      if (!contains(out, fingerprint, &MachineIdentity::fingerprint)) {
        out.push_back({.fingerprint = fingerprint, .earlier = {}});
      }
    }
  }
  return out;
}

WorkerLimits worker_limits_of(const GlobalOptions& options, const StatedLimits& of_sweep) {
  StatedLimits stated;
  if (!options.worker_memory.empty()) {
    stated.memory_bytes = parse_worker_memory(options.worker_memory, "--worker-memory");
  }
  for (const std::string& text : options.phase_limits) {
    stated.phases.push_back(parse_phase_limit(text, "--phase-limit"));
  }
  return worker_limits(of_sweep, stated);
}

std::vector<FoundPlugin> find_plugins(const GlobalOptions& options) {
  const HeldInterrupts until_workers_ended;
  std::vector<FoundPlugin> found = discover({.paths = options.plugins,
                                             .allow_insecure = options.allows_insecure_plugins,
                                             .limits = worker_limits_of(options)});
  if (interrupted()) throw Error(interrupt_exit_code(), "interrupted while plugins were asked");
  options.insecure_plugins->clear();
  for (const FoundPlugin& plugin : found) {
    if (!plugin.is_insecure || !plugin.is_loaded()) continue;
    options.insecure_plugins->push_back(
        {"W-PLUGIN-01", plugin.path,
         "loaded by --allow-insecure-plugin although " + plugin.insecurity,
         "correct its owner and mode"});
  }
  // At once: what follows may take hours.
  if (!options.json && !options.quiet) {
    for (const Warning& w : *options.insecure_plugins) write_stderr(warning_line(w));
  }
  return found;
}

WinnerTable stored_winners(const GlobalOptions& global, const LocalMachine& machine,
                           const std::string& backend, const std::string& device) {
  const std::string path = database_path(global);
  if (!is_database_there(path)) return {};
  const std::unique_ptr<Store> store = open_store_read_only(path);
  const bool has_some = backend != "cpu" || !runs_with_winners(*store, machine.identity()).empty();
  store->require_sound();
  if (!has_some) return {};
  for (const FoundPlugin& plugin : find_plugins(global)) {
    if (!plugin.is_loaded() || plugin.description->name != backend) continue;
    tune::LocalMachine own = machine;
    rows_are_of(own, plugin, device);
    WinnerTable out = tune::winner_table(*store, own.identity(), plugin.hash);
    store->require_sound();  // a winner that cannot be read must not give way to a default
    return out;
  }
  return {};
}

Device measured_peaks(const GlobalOptions& global, const LocalMachine& machine, bool is_quick,
                      const std::string& path) {
  const HeldInterrupts until_written;
  Progress progress(global, "peaks");
  return tune::measure_machine_peaks({.fingerprint = machine.fingerprint,
                                      .path = path,
                                      .is_quick = is_quick,
                                      .limits = worker_limits_of(global),
                                      .progress =
                                          [&](double share, const std::string& what) {
                                            progress.step(as_size(share * 100), 100, 0, what, -1);
                                          },
                                      .stop = interrupts()});
}

void ensure_cpu_peaks(const GlobalOptions& global, LocalMachine& machine) {
  if (machine.measured || machine.told) return;
  if (!global.json) say(global, "measuring this machine's peaks first (once)");
  machine.measured =
      measured_peaks(global, machine, true, measured_device_path(machine.fingerprint).string());
}

void keep_seen_peaks(const LocalMachine& machine, const RunPeaks* peaks) {
  if (peaks == nullptr || !peaks->has_seen()) return;
  const std::string& of = machine.is_apart ? machine.rows_fingerprint : machine.fingerprint;
  const std::string why_not =
      tune::keep_seen_peaks(peaks->seen(), measured_device_path(of).string());
  if (!why_not.empty()) write_stderr("halmark: peaks of this run are not kept: " + why_not + '\n');
}

PluginDevice plugin_device(const GlobalOptions& global, const std::string& backend,
                           const std::string& device) {
  std::vector<FoundPlugin> found = find_plugins(global);
  const FoundPlugin& plugin = plugin_of(found, backend);
  check_device(plugin, device);
  LocalMachine machine = local_machine();
  rows_are_of(machine, plugin, device);
  return {std::move(found), plugin, std::move(machine)};  // a moved vector keeps its elements
}

MeasuringSession::MeasuringSession(const GlobalOptions& global_options, const std::string& title,
                                   const FoundPlugin* plugin, LocalMachine machine_of_rows,
                                   tune::NamedDevices* named_devices)
    : global(global_options),
      machine(std::move(machine_of_rows)),
      named(named_devices),
      progress(global, title) {
  if (named == nullptr && machine.measured) peaks.emplace(*machine.measured, journal::utc_now);
  measuring.limits = machine.limits;
  measuring.worker_limits = worker_limits_of(global);
  if (machine.limits.rounds) measuring.rounds = static_cast<int>(*machine.limits.rounds);
  if (plugin != nullptr) {
    measuring.backend = plugin->description->name;
    measuring.plugin_path = plugin->path;
    measuring.plugin_hash = plugin->hash;
  }
  measuring.peaks = peaks ? &*peaks : nullptr;
  measuring.stop = interrupts();
  measuring.progress = campaign_progress(progress);
  if (named != nullptr) named->measure_with(measuring);
}

Device measured_peaks(const GlobalOptions& global, const PluginDevice& on,
                      const std::string& device, bool is_quick, const std::string& path) {
  const protocol::DeviceDescription& described = check_device(on.plugin, device);
  if (!described.is_apart()) {
    throw refused("device " + device + " of " + on.plugin.description->name +
                      " computes on this machine's CPU, as far as the host's clock can tell",
                  {}, "halmark peaks without --backend measures what bounds it");
  }
  MeasuringSession session(global, "peaks", &on.plugin, on.machine);
  session.measuring.peaks = nullptr;
  if (is_quick) session.measuring.rounds = 1;
  return tune::measure_device_peaks({.plugin = *on.plugin.description,
                                     .device = described,
                                     .fingerprint = on.machine.rows_fingerprint,
                                     .path = path,
                                     .datasheet = on.machine.datasheet,
                                     .utc = journal::utc_now(),
                                     .measuring = session.measuring,
                                     .limits = session.measuring.worker_limits,
                                     .is_quick = is_quick});
}

void ensure_peaks(const GlobalOptions& global, PluginDevice& on, const std::string& device) {
  if (!check_device(on.plugin, device).is_apart()) return ensure_cpu_peaks(global, on.machine);
  if (on.machine.measured) return;
  on.machine.measured = measured_peaks(global, on, device, true,
                                       measured_device_path(on.machine.rows_fingerprint).string());
}

void MeasuringSession::keep(Keeping keeping) {
  std::vector<std::string> lines = run_lines(global, machine);
  if (named != nullptr) std::ranges::move(named->lines(), std::back_inserter(lines));
  kept.emplace(tune::KeptRows::Place{.database = database_path(global),
                                     .is_asked = keeping.is_asked || !global.db.empty(),
                                     .is_off = keeping.is_off},
               RunInfo{.command = global.command,
                       .fingerprint = machine.rows_fingerprint,
                       .tool_version = tool_version,
                       .tool_build = tool_build,
                       .started_utc = journal::utc_now()},
               lines);
  measuring.sink =
      named != nullptr ? keeping_sink(*kept, *named) : keeping_sink(*kept, peaks, machine.cores);
}

void MeasuringSession::finish() {
  progress.finish();
  keep_seen_peaks(machine, peaks ? &*peaks : nullptr);
  if (peaks) machine.measured = peaks->device();
}

tune::ReportingMachine MeasuringSession::judge() const {
  tune::ReportingMachine out = reporting_machine(machine);
  if (named != nullptr) named->judge_in(out);
  return out;
}

void MeasuringSession::say_what_is_kept(CommandResult& result) const {
  result.data["stored"] = nullptr;
  if (kept->run()) {
    result.data["stored"] = {{"database", database_path(global)}, {"run", *kept->run()}};
  } else if (!kept->reason().empty()) {
    result.warnings.push_back({"W-DB-01", "database", "not stored: " + kept->reason(),
                               "the figures above are complete; --db names another database"});
  }
}

void say_what_is_damaged(const Store& store, const std::string& path, CommandResult& result) {
  for (const std::string& line : store.damaged()) {
    result.warnings.push_back({"W-DB-02", path, "damaged: " + line, remedy_of_damage(path)});
    result.exit_code = ExitCode::refused;
  }
}

std::function<void(const CampaignProgress&)> campaign_progress(Progress& progress) {
  return [&progress](const CampaignProgress& p) {
    progress.step(as_size(p.done), as_size(p.total), as_size(p.failed), p.current,
                  p.left_s.value_or(-1));
  };
}

std::vector<std::string> run_lines(const GlobalOptions& global, const LocalMachine& machine) {
  std::vector<std::string> out = machine_lines(machine);
  for (const Warning& w : *global.insecure_plugins) {
    out.push_back("insecure plugin: " + w.subject + " " + w.text);
  }
  return out;
}

}  // namespace halmark::cli
