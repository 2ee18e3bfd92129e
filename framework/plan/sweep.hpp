// A sweep file: what a person asks for, checked, before anything about the machine is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/chosen/objective.hpp"
#include "plan/asked_kernels.hpp"
#include "plan/measure_limits.hpp"
#include "plan/precision.hpp"
#include "plan/served_sweep.hpp"
#include "plan/worker_limits.hpp"

namespace halmark {

// [nightly] of a sweep: what a scheduler calls every night, within minutes that are its own.
struct Nightly {
  double budget_s = 0;  // of a whole night
  // Of the results database: raw samples from before the latest n nights go; 0 = all stay.
  int keep_samples_nights = 0;
  std::vector<AskedKernels> kernels;  // besides those of the sweep's model
  // Measured before, between and after the rounds: what moves them is the machine.
  std::vector<AskedKernels> sentinels;
};

// One [[workload]]: every batch x precision of it is a point for each parallel layout.
struct SweepWorkload {
  Phase phase = Phase::decode;
  std::vector<std::int64_t> batches;
  std::int64_t new_tokens = 1;
  std::int64_t context = 1;
  std::vector<std::string> precisions;  // recipes; empty = the sweep's
  std::string where;                    // file:line:column, for later refusals
};

struct MeasureSettings {
  int rounds = 3;
  double sample_budget_s = 0.02;  // per case, round and shard
  std::int64_t samples_min = 10;
  double wall_cap_s = 15;
  double warmup_cap_s = 0.2;
  double repeat_budget_s = 20;  // of further rounds, where intervals leave the front undecided
  bool in_stack = false;        // kernels between their neighbours, not each in a loop of its own
  MeasureLimits limits;         // that the sweep states, its rounds among them

  // Takes those of the machine where the sweep states none.
  void take(const MeasureLimits& of_machine);
};

// "10,18": layers of each stage, first to last. Throws Error (exit 2) at `where`.
std::vector<int> parse_stages(const std::string& text, const std::string& where);

struct Sweep {
  std::string file;
  std::string name;
  std::string model;
  std::string model_where;
  std::string backend = "cpu";
  std::string device = "0";
  std::vector<std::int64_t> shards;  // empty = 1..cores
  // Choices of devices, one per shard of a configuration; empty = equal parts of `device`.
  std::vector<std::vector<ShardPlace>> shards_on;
  std::string shards_on_where;
  std::vector<std::string> strategies;   // subset of data, tensor, pipeline, expert
  std::vector<std::vector<int>> stages;  // layers per stage, tried beside equal ones; see Parallel
  std::string stages_where;
  std::vector<std::string> precisions;             // recipes, see precision.hpp
  std::vector<PrecisionChoice> precision_choices;  // [precision]
  bool fused_qkv = false;  // projections of queries, keys and values are one product
  std::vector<SweepWorkload> workloads;
  std::int64_t routing_skew = 0;  // of mixtures of experts; see Workload
  std::string routing_skew_where;
  std::vector<Objective> objectives;  // in order of printing; of steps, see `served`
  std::string sampler = "grid";       // checked by who runs the sweep
  std::string sampler_where;
  std::int64_t trials = 0;  // 0 = the whole space
  std::uint64_t seed = 1;
  double budget_s = 180;  // of measuring; the plan of a grid trims to it before it starts
  // Measuring ends when so much of the front's hypervolume is expected to be lost; absent = the
  // budget ends it.
  std::optional<double> regret;
  std::string regret_where;
  MeasureSettings measure;
  std::optional<Nightly> nightly;  // a new run at every call, within its own budget
  StatedLimits containment;        // of workers, where the sweep states any
  std::int64_t validate_points = 6;
  double validate_budget_s = 90;
  double validate_turn_s = 1;         // of the stack or of its kernels; a step at least
  std::optional<ServedSweep> served;  // [request]; then there is no [[workload]]
  ServingDevices serving_devices;     // of latencies that are not measured here
  std::string fabric;                 // id of configs/fabrics, or a path; "" = none
  std::string fabric_where;
  std::vector<std::string> latency;  // sources in order of trust; empty = measured here
  std::string latency_where;
  std::vector<std::string> series;  // of tables, in order of preference; see LatencyChoice
  std::string series_where;
};

// Throws Error (exit 2) with file:line:column for an unknown key, a wrong type or an impossible
// value.
Sweep read_sweep(const std::string& path);
Sweep parse_sweep(std::string_view text, std::string_view where);

// One choice of devices instead of the sweep's, as parse_shard_places reads it.
void put_shards_on(const std::string& text, const std::string& where, Sweep& sweep);
// The places of all choices of shards_on.
std::vector<ShardPlace> places_of(const Sweep& sweep);

// Those of one workload: its own recipes, or the sweep's, with every combination of [precision].
std::vector<Precision> precisions_of(const Sweep& sweep, const SweepWorkload& workload,
                                     const PrecisionFacts& facts);
// Those of the requests.
std::vector<Precision> precisions_of(const Sweep& sweep, const PrecisionFacts& facts);

}  // namespace halmark
