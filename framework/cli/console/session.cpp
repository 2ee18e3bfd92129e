#include "cli/console/session.hpp"

#include <algorithm>

#include "cli/console/interrupt.hpp"
#include "core/version.hpp"
#include "host/partition.hpp"
#include "journal/writer_lock.hpp"
#include "plan/device_file.hpp"
#include "tune/evaluate/machine_peaks.hpp"
#include "tune/stored/stored_winners.hpp"

namespace halmark::cli {
namespace {

std::optional<Device> datasheet_of(const Machine& machine) {
  for (const Device& device : known_devices(config_dirs("devices"))) {
    if (device.kind == "cpu" && machine.cpu_model.find(device.name) != std::string::npos) {
      return device;
    }
  }
  return std::nullopt;
}

}  // namespace

LocalMachine local_machine() {
  LocalMachine out{.machine = this_machine()};
  out.fingerprint = out.machine.fingerprint();
  out.cores = cut(1).front().threads();
  const std::vector<std::string> keys = isa_keys();
  out.has_bf16 = std::ranges::any_of(keys, [](const std::string& key) {
    return key.find("bf16") != std::string::npos || key.find("amx") != std::string::npos;
  });
  out.measured = measured_device(out.fingerprint);
  out.datasheet = datasheet_of(out.machine);
  const std::filesystem::path limits = measured_limits_path(out.fingerprint);
  std::error_code ignored;
  if (std::filesystem::exists(limits, ignored)) {
    out.limits_path = limits.string();
    out.limits = read_limits_file(out.limits_path);
  }
  return out;
}

std::vector<FoundPlugin> find_plugins(const GlobalOptions& options) {
  return discover({.paths = options.plugins});
}

std::optional<RunPeaks> run_peaks(const LocalMachine& machine) {
  if (!machine.measured) return std::nullopt;
  return RunPeaks(*machine.measured, journal::utc_now);
}

tune::KernelMeasuring measuring_with(const LocalMachine& machine, const FoundPlugin& plugin,
                                     std::optional<RunPeaks>& peaks) {
  tune::KernelMeasuring out;
  out.limits = machine.limits;
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
          .fingerprint = machine.fingerprint,
          .measured = machine.measured,
          .datasheet = machine.datasheet,
          .cores = machine.cores,
          .memory_bytes = machine.machine.memory_bytes,
          .winners = std::move(winners),
          .limits = machine.limits};
}

tune::ReportingMachine reporting_machine(const LocalMachine& machine) {
  return {.fingerprint = machine.fingerprint,
          .cores = machine.cores,
          .measured = machine.measured,
          .datasheet = machine.datasheet,
          .lines = machine_lines(machine)};
}

WinnerTable stored_winners(const GlobalOptions& global, const std::string& fingerprint,
                           const std::string& backend) {
  const std::string path = database_path(global);
  std::error_code absent;
  if (!std::filesystem::exists(path, absent)) return {};
  const std::unique_ptr<Store> store = open_store_read_only(path);
  if (store->runs_with_winners(fingerprint).empty()) return {};
  for (const FoundPlugin& plugin : find_plugins(global)) {
    if (plugin.is_loaded() && plugin.description->name == backend) {
      return tune::winner_table(*store, fingerprint, plugin.hash);
    }
  }
  return {};
}

Device measured_peaks(const GlobalOptions& global, const LocalMachine& machine, bool is_quick,
                      const std::string& path) {
  Progress progress(global, "peaks");
  return tune::measure_machine_peaks({.fingerprint = machine.fingerprint,
                                      .path = path,
                                      .is_quick = is_quick,
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
          {.command = command,
           .fingerprint = machine.fingerprint,
           .tool_version = tool_version,
           .tool_build = tool_build,
           .started_utc = journal::utc_now()},
          machine_lines(machine)};
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

std::function<void(const CampaignProgress&)> campaign_progress(Progress& progress) {
  return [&progress](const CampaignProgress& p) {
    progress.step(static_cast<std::size_t>(p.done), static_cast<std::size_t>(p.total),
                  static_cast<std::size_t>(p.failed), p.current, p.left_s.value_or(-1));
  };
}

std::vector<std::string> machine_lines(const LocalMachine& m) {
  std::string keys;
  for (const std::string& key : isa_keys()) keys += (keys.empty() ? "" : ", ") + key;
  std::vector<std::string> out = {
      "cpu: " + m.machine.cpu_model + ", " + std::to_string(m.cores) + " cores for one shard",
      "isa: " + (keys.empty() ? std::string("unknown") : keys),
      "memory: " + std::to_string(m.machine.memory_bytes >> 20) + " MiB",
      "kernel: " + m.machine.kernel, "fingerprint: " + m.fingerprint};
  for (const std::string& cache : m.machine.caches) out.push_back("cache: " + cache);
  if (!m.limits_path.empty()) out.push_back("limits: " + m.limits_path);
  return out;
}

}  // namespace halmark::cli
