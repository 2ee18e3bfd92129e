// Kernels measured outside of any sweep: the one call that `halmark bench` makes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "measure/campaign/campaign.hpp"
#include "plan/measure_limits.hpp"

namespace halmark::tune {

// Plugins by their backend.
struct BackendPlugins {
  std::map<std::string, std::string> paths, hashes;
};

// Of one plugin, and how its kernels are measured.
struct KernelMeasuring {
  std::string backend, plugin_path, plugin_hash;
  RunPeaks* peaks = nullptr;  // of this machine, for quarantine; null = none
  // Where kernels lie on several devices: the other backends, and what bounds each ("cuda:0").
  BackendPlugins others = {};
  std::map<std::string, RunPeaks*> peaks_by_device = {};
  std::optional<NodeJob> job = {};  // on whose nodes cases of devices as "0@2" are measured
  int rounds = 3;
  double seconds = protocol::SampleRule{}.budget_s;  // of sampling, per case and round
  MeasureLimits limits;                              // of this machine
  std::uint64_t seed = 0;
  std::function<void(const Measurement&)> sink;  // each new row; may be empty
  WorkerLimits worker_limits;
  // Shared by copies: those that measure in turns for one command.
  std::shared_ptr<Hangs> hangs = std::make_shared<Hangs>();
  StacksOf stacks_of;  // of cases in the mode in_stack
  std::stop_token stop;
  std::function<void(const CampaignProgress&)> progress;
};

// The campaign of a plugin on this machine; rounds, rule and hooks are the caller's.
CampaignOptions campaign_of(const std::string& backend, const std::string& plugin_path,
                            const std::string& plugin_hash, RunPeaks* peaks);

void add_plugins(const BackendPlugins& plugins, CampaignOptions& to);

// Those of the gate; what is not stated has its default, and the limit to `invalid` is as far from
// that to `suspect` as by default.
ValidityThresholds thresholds_of(const MeasureLimits& limits);

// All rounds of all cases; what was interrupted has no row.
std::vector<Measurement> measure_kernels(std::span<const KernelCase> cases,
                                         const KernelMeasuring& options);

}  // namespace halmark::tune
