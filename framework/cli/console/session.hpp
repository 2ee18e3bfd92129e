// What a command that touches devices needs first: plugins, this machine, its measured peaks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "host/machine.hpp"
#include "host/plugin/discovery.hpp"
#include "tune/evaluate/measure_kernels.hpp"
#include "tune/plan/target.hpp"
#include "tune/stored/stored_report.hpp"

namespace halmark::cli {

struct LocalMachine {
  Machine machine;
  std::string fingerprint;
  int cores = 1;                    // what one shard of the whole device gets
  bool has_bf16 = false;            // the ISA computes bf16
  std::optional<Device> measured;   // written by `halmark peaks`
  std::optional<Device> datasheet;  // configs/devices, by CPU name
};
LocalMachine local_machine();

std::vector<FoundPlugin> find_plugins(const GlobalOptions& options);
// Throws Error (exit 5) naming what was found instead, or the refusal of that plugin's file.
const FoundPlugin& plugin_of(const std::vector<FoundPlugin>& found, const std::string& backend);
// Why a plugin that works offers no device, in its own words.
std::string absence_of(const protocol::PluginDescription& plugin);
// Throws Error (exit 5) when the plugin has no device at all. Throws Error (exit 2) with the
// nearest name when the plugin has no such device or kernel; an empty kernel is the plugin's own
// choice.
void check_device(const FoundPlugin& plugin, const std::string& device);
void check_kernel(const FoundPlugin& plugin, const std::string& kernel);

// The measured peaks of this machine as a run refines them; nothing when there are none.
std::optional<RunPeaks> run_peaks(const LocalMachine& machine);
// How kernels of this plugin are measured here; rounds and hooks are the command's. Refers to the
// peaks.
tune::KernelMeasuring measuring_with(const FoundPlugin& plugin, std::optional<RunPeaks>& peaks);
// This machine as what configurations run on, and as what judges a stored run.
tune::Target target_of(const LocalMachine& machine, const std::string& backend,
                       const std::string& device, WinnerTable winners);
tune::ReportingMachine reporting_machine(const LocalMachine& machine);

// Shows how a campaign goes on.
std::function<void(const CampaignProgress&)> campaign_progress(Progress& progress);

// Open MPI and OpenMP versions, isa keys, cores: lines for reports and doctor.
std::vector<std::string> machine_lines(const LocalMachine& machine);

}  // namespace halmark::cli
