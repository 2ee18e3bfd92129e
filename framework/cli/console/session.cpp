#include "cli/console/session.hpp"

#include <algorithm>

#include "core/version.hpp"
#include "host/machine_text.hpp"
#include "host/partition.hpp"
#include "host/process/interrupt.hpp"
#include "journal/writer_lock.hpp"
#include "plan/device_file.hpp"
#include "tune/evaluate/machine_peaks.hpp"
#include "tune/stored/stored_winners.hpp"

namespace halmark::cli {
namespace {

// Its own figures and datasheet take the place of the CPU's.
void measure_on(LocalMachine& machine, const protocol::DeviceDescription& device) {
  machine.rows_fingerprint = machine.machine.fingerprint_on(device);
  if (!device.is_apart()) return;
  machine.measured = measured_device(machine.rows_fingerprint);
  machine.datasheet = datasheet_of(device.name, device.kind, config_dirs("devices"));
  machine.has_bf16 = !machine.datasheet || machine.datasheet->peak(Dtype::bf16, 0).has_value();
  if (device.memory_bytes > 0) machine.memory_bytes = device.memory_bytes;
}

}  // namespace

LocalMachine local_machine() {
  LocalMachine out{.machine = this_machine()};
  out.fingerprint = out.rows_fingerprint = out.machine.fingerprint();
  out.cores = cut(1).front().threads();
  const std::vector<std::string> keys = isa_keys();
  out.has_bf16 = std::ranges::any_of(keys, [](const std::string& key) {
    return key.find("bf16") != std::string::npos || key.find("amx") != std::string::npos;
  });
  out.measured = measured_device(out.fingerprint);
  out.datasheet = datasheet_of(out.machine.cpu_model, "cpu", config_dirs("devices"));
  out.memory_bytes = out.machine.memory_bytes;
  const std::filesystem::path limits = measured_limits_path(out.fingerprint);
  std::error_code ignored;
  if (std::filesystem::exists(limits, ignored)) {
    out.limits_path = limits.string();
    out.limits = read_limits_file(out.limits_path);
  }
  return out;
}

MachineIdentity LocalMachine::identity() const {
  MachineIdentity out{.fingerprint = rows_fingerprint, .earlier = {}};
  // Rows of a plugin's own device say nothing of it that would prove which it was.
  if (rows_fingerprint != fingerprint) return out;
  out.earlier.fingerprint = machine.earlier_fingerprint();
  for (int parts = 1; parts <= machine.shape.cpus.threads(); ++parts) {
    out.earlier.affinity.emplace(parts, cut(parts).front().text());
  }
  return out;
}

void rows_are_of(LocalMachine& machine, const FoundPlugin& plugin, const std::string& device) {
  if (!plugin.description) return;
  const auto& devices = plugin.description->devices;
  const auto found = std::ranges::find(devices, device, &protocol::DeviceDescription::id);
  if (found != devices.end()) measure_on(machine, *found);
}

std::vector<MachineIdentity> identities_of(const GlobalOptions& global,
                                           const LocalMachine& machine) {
  std::vector<MachineIdentity> out = {machine.identity()};
  for (const FoundPlugin& plugin : find_plugins(global)) {
    if (!plugin.is_loaded()) continue;
    for (const protocol::DeviceDescription& device : plugin.description->devices) {
      const std::string fingerprint = machine.machine.fingerprint_on(device);
      if (std::ranges::find(out, fingerprint, &MachineIdentity::fingerprint) == out.end()) {
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
  out.is_interrupted = interrupted;
  return out;
}

tune::Target target_of(const LocalMachine& machine, const std::string& backend,
                       const std::string& device, WinnerTable winners) {
  return {.backend = backend,
          .device = device,
          .fingerprint = machine.rows_fingerprint,
          .earlier = machine.identity().earlier,
          .measured = machine.measured,
          .datasheet = machine.datasheet,
          .cores = machine.cores,
          .memory_bytes = machine.memory_bytes,
          .winners = std::move(winners),
          .limits = machine.limits};
}

tune::ReportingMachine reporting_machine(const LocalMachine& machine) {
  return {.fingerprint = machine.rows_fingerprint,
          .cores = machine.cores,
          .measured = machine.measured,
          .datasheet = machine.datasheet,
          .lines = machine_lines(machine),
          .earlier = machine.identity().earlier};
}

WinnerTable stored_winners(const GlobalOptions& global, const LocalMachine& machine,
                           const std::string& backend, const std::string& device) {
  const std::string path = database_path(global);
  std::error_code absent;
  if (!std::filesystem::exists(path, absent)) return {};
  const std::unique_ptr<Store> store = open_store_read_only(path);
  const bool has_some = backend != "cpu" || !runs_with_winners(*store, machine.identity()).empty();
  store->require_sound();
  if (!has_some) return {};
  for (const FoundPlugin& plugin : find_plugins(global)) {
    if (!plugin.is_loaded() || plugin.description->name != backend) continue;
    LocalMachine own = machine;
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
                                            progress.step(static_cast<std::size_t>(share * 100),
                                                          100, 0, what, -1);
                                          },
                                      .is_interrupted = interrupted});
}

void keep_seen_peaks(const LocalMachine& machine, const RunPeaks* peaks) {
  if (peaks == nullptr || !peaks->has_seen()) return;
  tune::keep_seen_peaks(peaks->seen(), measured_device_path(machine.fingerprint).string());
}

tune::KeptRows kept_rows(const GlobalOptions& global, const LocalMachine& machine,
                         const std::string& command, Keeping keeping) {
  return {{.database = database_path(global),
           .is_asked = keeping.is_asked || !global.db.empty(),
           .is_off = keeping.is_off},
          {.command = recorded_command(global, command),
           .fingerprint = machine.rows_fingerprint,
           .tool_version = tool_version,
           .tool_build = tool_build,
           .started_utc = journal::utc_now()},
          run_lines(global, machine)};
}

std::function<void(const Measurement&)> keeping_sink(tune::KeptRows& kept,
                                                     const std::optional<RunPeaks>& peaks,
                                                     int cores) {
  return [&kept, &peaks, cores, stored_revision = -1](const Measurement& row) mutable {
    if (peaks && peaks->revision() != stored_revision) {
      kept.append(UsedPeaks{device_text(peaks->device()), cores});
      stored_revision = peaks->revision();
    }
    kept.append(row);
  };
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
    result.warnings.push_back({"W-DB-02", path, "damaged: " + line,
                               "'halmark salvage " + path + " NEW.db' copies the rest"});
    result.exit_code = ExitCode::refused;
  }
}

std::function<void(const CampaignProgress&)> campaign_progress(Progress& progress) {
  return [&progress](const CampaignProgress& p) {
    progress.step(static_cast<std::size_t>(p.done), static_cast<std::size_t>(p.total),
                  static_cast<std::size_t>(p.failed), p.current, p.left_s.value_or(-1));
  };
}

std::string recorded_command(const GlobalOptions& global, const std::string& command) {
  return global.insecure_plugins->empty() ? command : command + " --allow-insecure-plugin";
}

std::vector<std::string> run_lines(const GlobalOptions& global, const LocalMachine& machine) {
  std::vector<std::string> out = machine_lines(machine);
  for (const Warning& w : *global.insecure_plugins) {
    out.push_back("insecure plugin: " + w.subject + " " + w.text);
  }
  return out;
}

std::vector<std::string> machine_lines(const LocalMachine& m) {
  std::vector<std::string> out = property_lines(m.machine, m.cores, m.rows_fingerprint);
  if (!m.limits_path.empty()) out.push_back("limits: " + m.limits_path);
  return out;
}

}  // namespace halmark::cli
