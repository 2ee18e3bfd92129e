#include "cli/console/session.hpp"

#include <algorithm>

#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"
#include "core/version.hpp"
#include "host/process/interrupt.hpp"
#include "journal/place.hpp"
#include "journal/sqlite/writer_lock.hpp"
#include "tune/evaluate/machine_peaks.hpp"
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

std::optional<RunPeaks> run_peaks(const LocalMachine& machine) {
  if (!machine.measured) return std::nullopt;
  return RunPeaks(*machine.measured, journal::utc_now);
}

tune::KernelMeasuring measuring_with(const GlobalOptions& global, const LocalMachine& machine,
                                     const FoundPlugin& plugin, std::optional<RunPeaks>& peaks) {
  tune::KernelMeasuring out;
  out.limits = machine.limits;
  out.worker_limits = worker_limits_of(global);
  if (machine.limits.rounds) out.rounds = static_cast<int>(*machine.limits.rounds);
  out.backend = plugin.description->name;
  out.plugin_path = plugin.path;
  out.plugin_hash = plugin.hash;
  out.peaks = peaks ? &*peaks : nullptr;
  out.stop = interrupts();
  return out;
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
  if (!global.quiet && !global.json) {
    write_stderr("halmark: measuring this machine's peaks first (once)\n");
  }
  machine.measured =
      measured_peaks(global, machine, true, measured_device_path(machine.fingerprint).string());
}

void keep_seen_peaks(const LocalMachine& machine, const RunPeaks* peaks) {
  if (peaks == nullptr || !peaks->has_seen()) return;
  const std::string why_not =
      tune::keep_seen_peaks(peaks->seen(), measured_device_path(machine.fingerprint).string());
  if (!why_not.empty()) write_stderr("halmark: peaks of this run are not kept: " + why_not + '\n');
}

tune::KeptRows kept_rows(const GlobalOptions& global, const LocalMachine& machine, Keeping keeping,
                         const std::vector<std::string>& device_lines) {
  std::vector<std::string> lines = run_lines(global, machine);
  lines.insert(lines.end(), device_lines.begin(), device_lines.end());
  return {{.database = database_path(global),
           .is_asked = keeping.is_asked || !global.db.empty(),
           .is_off = keeping.is_off},
          {.command = global.command,
           .fingerprint = machine.rows_fingerprint,
           .tool_version = tool_version,
           .tool_build = tool_build,
           .started_utc = journal::utc_now()},
          lines};
}

void say_what_is_kept(const GlobalOptions& global, const tune::KeptRows& kept,
                      CommandResult& result) {
  result.data["stored"] = nullptr;
  if (kept.run()) {
    result.data["stored"] = {{"database", database_path(global)}, {"run", *kept.run()}};
  } else if (!kept.reason().empty()) {
    result.warnings.push_back({"W-DB-01", "database", "not stored: " + kept.reason(),
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
