// What `halmark tune` is asked for beside its sweep: words that stand in the place of the file's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plan/kernel_sweep.hpp"
#include "plan/sweep.hpp"
#include "tune/certify/certify_chooser.hpp"
#include "tune/plan/asked_nodes.hpp"
#include "tune/sources/priced_latencies.hpp"
#include "tune/steer/study_steering.hpp"

namespace halmark::tune {

struct TuneRequest {
  std::string sweep;  // its file
  std::string model;  // instead of the sweep's, which is then named by it; "" = the sweep's
  std::string sampler, stages, shards_on, night;
  std::string fleet;        // URL of the database whose agents measure; "" = this machine does
  std::string fleet_class;  // of its machines; "" = the one class that is there
  AskedNodes nodes;         // over which collectives are measured
  std::optional<std::uint64_t> seed;
  std::optional<std::int64_t> trials;
  CertifySettings certify;
  LatencyChoice latency;
  ProposalChoice proposals;
  std::optional<double> gap, safety;  // instead of those of `certify`
  bool takes_defaults = false;        // kernels as the plugin chooses them
  bool starts_new_run = false, is_brief = false;
  std::string validate;  // "" = no, "front" = the sweep's number of points, "all"
};

CertifySettings certify_settings(const TuneRequest& request);

// Throws Error (exit 2) for words that the sweep cannot follow.
Sweep changed_sweep(const TuneRequest& request, Sweep sweep);
KernelSweep changed_sweep(const TuneRequest& request, KernelSweep sweep);

}  // namespace halmark::tune
