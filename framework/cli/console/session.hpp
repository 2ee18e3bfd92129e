// What a command that touches devices needs first: plugins, this machine, its measured peaks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console/command.hpp"
#include "host/plugin/plugin_choice.hpp"
#include "journal/sqlite/writer_lock.hpp"
#include "plan/worker_limits.hpp"
#include "tune/devices/named_devices.hpp"
#include "tune/evaluate/measure_kernels.hpp"
#include "tune/stored/kept_rows.hpp"
#include "tune/stored/stored_report.hpp"

namespace halmark::cli {

using tune::keeping_sink, tune::local_machine, tune::LocalMachine, tune::machine_lines,
    tune::reporting_machine, tune::rows_are_of, tune::target_of;
// This machine's CPU, and each device of the plugins found that is none.
std::vector<MachineIdentity> identities_of(const GlobalOptions& global,
                                           const LocalMachine& machine);

// What workers may take, by the command line and before it by a sweep. Throws Error (exit 2).
WorkerLimits worker_limits_of(const GlobalOptions& options, const StatedLimits& of_sweep = {});

// Says on stderr which insecure plugins it accepted. Throws Error (exit 130 or 143) when
// interrupted.
std::vector<FoundPlugin> find_plugins(const GlobalOptions& options);

// The winner table of this machine and the backend's build. The database may be absent and the
// plugin too: looks for it only when there are winners of this machine at all. Opens no device.
WinnerTable stored_winners(const GlobalOptions& global, const LocalMachine& machine,
                           const std::string& backend, const std::string& device);

// Measures with progress, and writes the device file unless interrupted.
Device measured_peaks(const GlobalOptions& global, const LocalMachine& machine, bool is_quick,
                      const std::string& path);

// The CPU's, once, where there are none yet; says so on stderr.
void ensure_cpu_peaks(const GlobalOptions& global, LocalMachine& machine);

// Adds what a run saw of the peaks to the device file of what was measured, where there is one.
// `peaks` may be null.
void keep_seen_peaks(const LocalMachine& machine, const RunPeaks* peaks);

// A device of a backend, the plugin that drives it, and this machine as rows of it see it.
struct PluginDevice {
  std::vector<FoundPlugin> found;
  const FoundPlugin& plugin;
  LocalMachine machine;
};
// Throws Error as plugin_of and check_device do.
PluginDevice plugin_device(const GlobalOptions& global, const std::string& backend,
                           const std::string& device);

// measured_peaks of a device that the plugin alone reaches. Throws Error (exit 2) for one that
// computes on this machine's CPU.
Device measured_peaks(const GlobalOptions& global, const PluginDevice& on,
                      const std::string& device, bool is_quick, const std::string& path);

// Those of the device, once, where there are none yet.
void ensure_peaks(const GlobalOptions& global, PluginDevice& on, const std::string& device);

// Where rows of the command go: the results database, unless it is off. Named with --db, or asked
// for otherwise, it has to be there.
struct Keeping {
  bool is_asked = false, is_off = false;
};

// Kernels measured for one command, shown as it goes on: of one plugin, judged by the measured
// peaks of this machine, or of named devices by theirs (either may be null). Holds interrupts until
// it is reported.
struct MeasuringSession {
  MeasuringSession(const GlobalOptions& global, const std::string& title, const FoundPlugin* plugin,
                   LocalMachine machine, tune::NamedDevices* named = nullptr);
  // Rows go to the results database from now on.
  void keep(Keeping keeping = {});
  // Nothing more is measured; what was seen of the peaks counts from now on.
  void finish();
  tune::ReportingMachine judge() const;
  // Adds `stored` to the data, and a warning where rows could not be kept.
  void say_what_is_kept(CommandResult& result) const;

  const GlobalOptions& global;
  LocalMachine machine;
  tune::NamedDevices* named;
  HeldInterrupts until_reported;
  std::optional<RunPeaks> peaks;
  Progress progress;
  tune::KernelMeasuring measuring;  // its rounds are the machine's; refers to this
  std::optional<tune::KeptRows> kept;
};

// Names the rows that were left out, and makes the command end as damage does (exit 2).
void say_what_is_damaged(const Store& store, const std::string& path, CommandResult& result);

// Shows how a campaign goes on.
std::function<void(const CampaignProgress&)> campaign_progress(Progress& progress);

// What a run records of this machine and of what find_plugins accepted: insecure plugins too.
std::vector<std::string> run_lines(const GlobalOptions& global, const LocalMachine& machine);

}  // namespace halmark::cli
