// A sweep file: what a person asks for, checked, before anything about the machine is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/configuration.hpp"
#include "plan/served_load.hpp"

namespace halmark {

// One [[workload]]: every batch x precision of it is a point for each parallel layout.
struct SweepWorkload {
  Phase phase = Phase::decode;
  std::vector<std::int64_t> batches;
  std::int64_t new_tokens = 1;
  std::int64_t context = 1;
  std::vector<std::string> precisions;  // names; empty = the sweep's
  std::string where;                    // file:line:column, for later refusals
};

struct MeasureSettings {
  int rounds = 3;
  double sample_budget_s = 0.02;  // per case, round and shard
  std::int64_t samples_min = 10;
  double wall_cap_s = 15;
  double warmup_cap_s = 0.2;
  double repeat_budget_s = 20;  // of further rounds, where intervals leave the front undecided
};

struct Sweep {
  std::string file;
  std::string name;
  std::string model;
  std::string model_where;
  std::string backend = "cpu";
  std::string device = "0";
  std::vector<std::int64_t> shards;     // empty = 1..cores
  std::vector<std::string> strategies;  // subset of data, tensor, pipeline, expert
  std::vector<std::string> precisions;  // f32, bf16, int8
  std::vector<SweepWorkload> workloads;
  std::int64_t routing_skew = 0;  // of mixtures of experts; see Workload
  std::string routing_skew_where;
  std::vector<Objective> objectives;  // in order of printing; of steps, see `served`
  std::string sampler = "grid";
  std::int64_t trials = 0;  // 0 = the whole space
  std::uint64_t seed = 1;
  double budget_s = 180;  // of measuring; the plan trims to it before it starts
  MeasureSettings measure;
  std::int64_t validate_points = 6;
  double validate_budget_s = 40;
  std::optional<ServedLoad> served;  // [request]; then there is no [[workload]]
  ServingDevices serving_devices;    // of latencies that are not measured here
  std::vector<std::string> latency;  // sources in order of trust; empty = measured here
  std::string latency_where;
};

// Throws Error (exit 2) with file:line:column for an unknown key, a wrong type or an impossible
// value.
Sweep read_sweep(const std::string& path);
Sweep parse_sweep(std::string_view text, std::string_view where);

// The known precisions: how a name maps to a dtype per kernel kind. `has_bf16` says whether the ISA
// computes bf16; without it int8 keeps its activations and KV cache in f32.
std::vector<std::string> known_precisions();
Precision precision_named(std::string_view name, bool has_bf16);

}  // namespace halmark
