// What a command that touches devices needs first: plugins, this machine, its measured peaks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "host/plugin/plugin_choice.hpp"
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

// The measured peaks of this machine as a run refines them; nothing when there are none.
std::optional<RunPeaks> run_peaks(const LocalMachine& machine);
// How kernels of this plugin are measured here; rounds and hooks are the command's. Refers to the
// peaks.
tune::KernelMeasuring measuring_with(const GlobalOptions& global, const LocalMachine& machine,
                                     const FoundPlugin& plugin, std::optional<RunPeaks>& peaks);
// The winner table of this machine and the backend's build. The database may be absent and the
// plugin too: looks for it only when there are winners of this machine at all. Opens no device.
WinnerTable stored_winners(const GlobalOptions& global, const LocalMachine& machine,
                           const std::string& backend, const std::string& device);

// Measures with progress, and writes the device file unless interrupted.
Device measured_peaks(const GlobalOptions& global, const LocalMachine& machine, bool is_quick,
                      const std::string& path);

// The CPU's, once, where there are none yet; says so on stderr.
void ensure_cpu_peaks(const GlobalOptions& global, LocalMachine& machine);

// Adds what a run saw of the peaks to the device file of this machine, where there is one. `peaks`
// may be null.
void keep_seen_peaks(const LocalMachine& machine, const RunPeaks* peaks);

// Where rows of the command go: the results database, unless it is off. Named with --db, or asked
// for otherwise, it has to be there.
struct Keeping {
  bool is_asked = false, is_off = false;
};
tune::KeptRows kept_rows(const GlobalOptions& global, const LocalMachine& machine, Keeping keeping,
                         const std::vector<std::string>& device_lines = {});
// Adds `stored` to the data, and a warning where rows could not be kept.
void say_what_is_kept(const GlobalOptions& global, const tune::KeptRows& kept,
                      CommandResult& result);

// Names the rows that were left out, and makes the command end as damage does (exit 2).
void say_what_is_damaged(const Store& store, const std::string& path, CommandResult& result);

// Shows how a campaign goes on.
std::function<void(const CampaignProgress&)> campaign_progress(Progress& progress);

// What a run records of this machine and of what find_plugins accepted: insecure plugins too.
std::vector<std::string> run_lines(const GlobalOptions& global, const LocalMachine& machine);

}  // namespace halmark::cli
