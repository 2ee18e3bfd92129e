// What a command that touches devices needs first: plugins, this machine, its measured peaks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "host/machine.hpp"
#include "host/plugin/plugin_choice.hpp"
#include "plan/worker_limits.hpp"
#include "tune/evaluate/measure_kernels.hpp"
#include "tune/plan/target.hpp"
#include "tune/stored/kept_rows.hpp"
#include "tune/stored/stored_report.hpp"

namespace halmark::cli {

struct LocalMachine {
  Machine machine;
  std::string fingerprint;          // of the host's CPU, as this process may use it
  std::string rows_fingerprint;     // of what is measured: another one for a plugin's own device
  int cores = 1;                    // what one shard of the whole device gets
  std::int64_t memory_bytes = 0;    // of what is measured
  bool has_bf16 = false;            // it computes bf16
  std::optional<Device> measured;   // its peaks, written by `halmark peaks`
  std::optional<Device> datasheet;  // configs/devices, by the name of the CPU or the driver's
  MeasureLimits limits;             // written by `halmark aa`
  std::string limits_path;          // "" = there are none

  MachineIdentity identity() const;  // of what is measured
};
LocalMachine local_machine();
// Rows are measured on this device of the plugin from now on, and judged by its own peaks.
void rows_are_of(LocalMachine& machine, const FoundPlugin& plugin, const std::string& device);
// This machine's CPU, and each device of the plugins found that is none.
std::vector<MachineIdentity> identities_of(const GlobalOptions& global,
                                           const LocalMachine& machine);

// What workers may take, by the command line and before it by a sweep. Throws Error (exit 2).
WorkerLimits worker_limits_of(const GlobalOptions& options, const StatedLimits& of_sweep = {});

// Says on stderr which insecure plugins it accepted. Throws Error (exit 130 or 143) when
// interrupted.
std::vector<FoundPlugin> find_plugins(const GlobalOptions& options);

// The measured peaks of this machine as a run refines them; nothing when there are none.
std::optional<RunPeaks> run_peaks(const LocalMachine& machine);
// How kernels of this plugin are measured here; rounds and hooks are the command's. Refers to the
// peaks.
tune::KernelMeasuring measuring_with(const GlobalOptions& global, const LocalMachine& machine,
                                     const FoundPlugin& plugin, std::optional<RunPeaks>& peaks);
// This machine as what configurations run on, and as what judges a stored run.
tune::Target target_of(const LocalMachine& machine, const std::string& backend,
                       const std::string& device, WinnerTable winners);
tune::ReportingMachine reporting_machine(const LocalMachine& machine);

// The winner table of this machine and the backend's build. The database may be absent and the
// plugin too: looks for it only when there are winners of this machine at all. Opens no device.
WinnerTable stored_winners(const GlobalOptions& global, const LocalMachine& machine,
                           const std::string& backend, const std::string& device);

// Measures with progress, and writes the device file unless interrupted.
Device measured_peaks(const GlobalOptions& global, const LocalMachine& machine, bool is_quick,
                      const std::string& path);

// Adds what a run saw of the peaks to the device file of this machine, where there is one. `peaks`
// may be null.
void keep_seen_peaks(const LocalMachine& machine, const RunPeaks* peaks);

// Where rows of `command` go: the results database, unless it is off. Named with --db, or asked for
// otherwise, it has to be there.
struct Keeping {
  bool is_asked = false, is_off = false;
};
tune::KeptRows kept_rows(const GlobalOptions& global, const LocalMachine& machine,
                         const std::string& command, Keeping keeping);
// Appends rows, and the peaks that they were judged by where these change. Refers to both.
std::function<void(const Measurement&)> keeping_sink(tune::KeptRows& kept,
                                                     const std::optional<RunPeaks>& peaks,
                                                     int cores);
// Adds `stored` to the data, and a warning where rows could not be kept.
void say_what_is_kept(const GlobalOptions& global, const tune::KeptRows& kept,
                      CommandResult& result);

// Names the rows that were left out, and makes the command end as damage does (exit 2).
void say_what_is_damaged(const Store& store, const std::string& path, CommandResult& result);

// Shows how a campaign goes on.
std::function<void(const CampaignProgress&)> campaign_progress(Progress& progress);

// What a run records of this machine and of what find_plugins accepted: insecure plugins too.
std::vector<std::string> run_lines(const GlobalOptions& global, const LocalMachine& machine);
std::string recorded_command(const GlobalOptions& global, const std::string& command);

// Open MPI and OpenMP versions, isa keys, cores: lines for reports and doctor.
std::vector<std::string> machine_lines(const LocalMachine& machine);

}  // namespace halmark::cli
