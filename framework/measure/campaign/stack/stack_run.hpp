// The truth check: executes the whole stack of a deployment in workers, all shards at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/configuration.hpp"
#include "core/measurement.hpp"
#include "host/process/shared_memory.hpp"
#include "host/worker_client.hpp"
#include "measure/campaign/gate/validity.hpp"

namespace halmark {

struct StackRunOptions {
  std::string plugin_path;
  std::map<std::string, std::string> environment;
  Config open_options;
  std::string cache_dir;
  PhaseLimits limits;
  std::uint64_t seed = 0;
  ValidityThresholds thresholds;
  std::int64_t warmup = 1;
  std::int64_t repetitions_min = 3, repetitions_max = 20;
  double budget_s = 5;           // of timed repetitions, beyond the minimum
  double wall_cap_s = 60;        // of one request
  double memory_fraction = 0.5;  // of the available memory, over all ranks
  // Arenas kept from run to run: fresh pages are expensive. Null = own ones, freed at the end.
  std::vector<SharedMemory>* arenas = nullptr;
};

struct StackRunResult {
  Status status = Status::cancelled;
  std::string reason;           // never empty unless status is ok
  std::vector<double> step_ns;  // per repetition, the slowest rank
  double median_ns = 0;
  Interval interval_ns;
  struct OperatorTime {
    std::string name;
    std::string layer_type;
    std::int64_t count = 0;  // steps of one repetition on one rank
    double ns = 0;           // all of them; median over repetitions of the slowest rank
  };
  std::vector<OperatorTime> operators;  // in order of first execution
  std::vector<Signal> signals;
  Correctness correctness;
  std::string environment;
  double wall_s = 0;
  // Kernels with fewer argument sets than the stack has instances, because memory ended.
  std::vector<std::string> shared_instances;
};

// One stack per rank; rank i runs on part i of the device that its kernels name. Ranks are MPI
// ranks when any step is a collective, plain workers with a common start otherwise. Every kernel
// passes the correctness gate before a repetition is timed. Failures are statuses, never
// exceptions.
StackRunResult run_stacks(std::span<const Stack> per_rank, const StackRunOptions& options);

}  // namespace halmark
