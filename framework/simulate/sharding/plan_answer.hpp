// Everything that a plan of shards says: the choice and what else there was, the table of tensors,
// where shards lie, what does not fit and where it goes, and what measured steps corrected.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulate/fabric/topology.hpp"
#include "simulate/sharding/calibration.hpp"
#include "simulate/sharding/offload.hpp"
#include "simulate/sharding/placement.hpp"
#include "simulate/sharding/planner.hpp"
#include "simulate/sharding/shard_table.hpp"

namespace halmark::simulate {

struct OffloadedItem {
  std::string name;
  std::int64_t bytes = 0;
  double ns = 0;  // of a step
};

struct PlanAnswer {
  std::string model, device, fabric;  // ids; fabric "" = none
  std::vector<std::string> basis;     // of times, beside the figures of devices: a line each
  PlanQuestion question;
  ShardPlan plan;
  StepCalibration calibration;
  bool reads_journal = false;
  // The first plan, without what measured steps said.
  std::optional<PlannedLayout> before;

  OperatorGraph graph;  // of the chosen layout
  ShardTable table;
  std::vector<std::string> owners;  // by stage: "0-3, 8-11"
  std::optional<Placement> placement;
  std::vector<std::string> places;  // by shard: name of its entity, and NUMA domain
  std::optional<Offload> offload;   // where the chosen layout does not fit
  std::vector<OffloadedItem> offloaded;
  std::string not_executable;  // why halmark run cannot execute it; "" = it can
  // Executes it, or the fastest layout that can be; "" = none can. What that step takes alone.
  std::string command;
  double command_ns = 0;
  double planning_s = 0;

  double step_ns() const { return plan.chosen()->cost.ns() + (offload ? offload->ns : 0); }
  double tokens_per_s() const;
};

// The command that executes a prefill or decode step of this configuration.
std::string run_command(const Configuration& configuration);

struct MeasuredPairs {
  std::vector<PredictedMeasured> compute, communication;
};

// `time`: as the figures of the device say; `topology`: null = not known. `pairs`: of each kind,
// predicted by `time`. Throws Error (exit 2) where no layout is possible, or none fits and no tier
// of the topology holds what is too much.
PlanAnswer answer_plan(const ModelSpec& spec, const PlanQuestion& question,
                       const OperatorTime& time, const fabric::Topology* topology,
                       const std::optional<MeasuredPairs>& pairs);

}  // namespace halmark::simulate
