// The planner of shards: of all layouts of a model over a number of shards the fastest that fits,
// its pipeline cut where the slowest stage is fastest, and a strategy per group of layers where
// that is faster still.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/graph/graph.hpp"
#include "model/pricing/memory.hpp"
#include "model/training/training.hpp"
#include "simulate/sharding/step_cost.hpp"

namespace halmark::simulate {

struct PlanQuestion {
  Configuration base;  // model, precision and workload; `parallel` as below
  std::int64_t shards = 1;
  // Degrees that are stated; 0 = the planner's choice. Stages likewise: empty = its choice.
  Parallel stated = {.dp = 0, .tp = 0, .pp = 0, .ep = 0, .cp = 0};
  std::optional<std::int64_t> bytes_max;      // of one shard
  std::optional<TrainingPlan> training = {};  // of phase training
  // Devices of each stage where they differ; `stated.pp` is their number then, and the time that
  // the planner is given is not asked.
  struct StageDevice {
    OperatorTime time;
    std::optional<std::int64_t> bytes_max = {};
  };
  std::vector<StageDevice> stage_devices = {};
  bool groups_layers = true;  // also looks for a strategy per group of layers
  // Steps that were measured, by the key of their configuration.
  std::map<std::string, double> measured_ns = {};
  std::vector<Parallel> measured_cuts = {};  // of these, with stages that were stated
};

struct PlannedLayout {
  Configuration configuration;
  StepCost cost;
  RankMemory largest;  // of the fullest shard
  bool fits = true;
  std::optional<double> measured_ns = {};  // of this very configuration
};

// A strategy per group of layers, where it beats every layout that has one for all.
struct GroupedLayers {
  Configuration configuration;  // with `groups`
  double ns = 0;
  std::int64_t bytes = 0;  // of a shard, activations in
};

struct ShardPlan {
  std::vector<PlannedLayout> layouts;  // the chosen one first; then those that fit, by time
  std::optional<GroupedLayers> grouped;
  std::size_t tried = 0;
  std::map<std::string, std::size_t> refused;  // by the reason's id
  std::string first_refusal;                   // its text
  // The key that was fastest of all that were measured.
  std::optional<std::pair<std::string, double>> winner;
  // The choice on paper, where it was measured to be slower than the winner, which takes its place.
  std::optional<PlannedLayout> overruled;

  const PlannedLayout* chosen() const { return layouts.empty() ? nullptr : &layouts.front(); }
  // What the choice on paper is said or was measured to take over the winner, less one; nothing
  // without a winner of the same workload.
  std::optional<double> slower_than_winner() const;
};

// Nothing fits: layouts are there all the same, the one that is nearest to fitting first among
// equally fast ones. Throws Error (exit 2) where an operator has no time.
ShardPlan plan_shards(const ModelSpec& spec, const PlanQuestion& question,
                      const OperatorTime& time);

// The layouts of `shards` shards with the stated degrees, as they are enumerated.
std::vector<Parallel> layouts_of(std::int64_t shards, const Parallel& stated, bool has_experts,
                                 bool has_context);

}  // namespace halmark::simulate
