// What a step of a graph takes when the time of each operator is known: a StepSum over layer types,
// and the parts of it that shards compute and that they exchange.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/graph/graph.hpp"

namespace halmark::simulate {

// One execution of an operator by one rank, in ns; nothing where nobody knows.
using OperatorTime = std::function<std::optional<double>(const Operator&)>;

struct PartTimes {
  double compute_ns = 0, communication_ns = 0;
  double ns() const { return compute_ns + communication_ns; }
};
PartTimes& operator+=(PartTimes& sum, const PartTimes& more);
PartTimes operator*(double factor, const PartTimes& times);

struct StepCost {
  PartTimes step;       // of the slowest stage for all micro-batches, or of the way
  bool is_way = false;  // through all stages: fewer micro-batches than stages
  // Of one micro-batch: by stage, or once where the devices of all are alike, and layer type.
  std::vector<std::vector<PartTimes>> types;
  std::vector<double> stage_ns;  // of one micro-batch, by stage
  std::string unknown;           // operator without a time; "" = all have one
  // From the first stage's begin to the last one's end when nothing stands before or behind the
  // step: what halmark run executes. Equals ns() of one stage.
  double alone_ns = 0;
  double ns() const { return step.ns(); }
  const PartTimes& type(std::size_t stage, std::int32_t of) const {
    return types[types.size() > 1 ? stage : 0][static_cast<std::size_t>(of)];
  }
};

StepCost step_cost(const OperatorGraph& graph, const OperatorTime& time);
// Stages of devices that differ: one time for each stage.
StepCost step_cost(const OperatorGraph& graph, std::span<const OperatorTime> by_stage);

}  // namespace halmark::simulate
