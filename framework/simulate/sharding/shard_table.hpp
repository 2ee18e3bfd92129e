// The tensors of a deployment: how each is split, which shards hold it, and what the split costs in
// messages. A fold over the operator graph; every size is a shape times a type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/numeric/cast.hpp"
#include "model/graph/graph.hpp"
#include "model/training/training.hpp"
#include "simulate/sharding/shard_strategies.hpp"

namespace halmark::simulate {

// Shards first, first + 1, ... : count of them.
struct ShardRun {
  std::int64_t first = 0, count = 1;
  bool operator==(const ShardRun&) const = default;
};

struct ShardRow {
  static constexpr std::int64_t no_layer = -1;  // embedding, head and what is not of a layer
  std::int64_t layer = no_layer;
  std::size_t stage = 0;
  std::size_t op = 0;  // of the graph
  std::string layer_type, tensor;
  std::vector<std::int64_t> shape, shard_shape;  // whole; of one shard
  Dtype dtype = Dtype::f32;
  ShardStrategy strategy = ShardStrategy::replicate;
  std::vector<ShardStrategy> also;  // that hold at the same time: tensor_column on a stage, copied
  std::int64_t bytes = 0, shard_bytes = 0;
  std::int64_t owners = 1;         // shards that hold a part of it
  std::int64_t padding_bytes = 0;  // over all shards: where parts are rounded up
  std::string collective;          // that its split makes necessary; "" = none
  double collective_bytes = 0;     // of one rank's messages in a step, in nccl-tests' convention
  std::string reason;

  std::int64_t held_bytes() const { return owners * shard_bytes; }
  // Copies of an element; a part of it where some of the heads have more than others.
  double replication() const { return as_double(held_bytes() - padding_bytes) / as_double(bytes); }
};

struct ShardTable {
  std::vector<ShardRow> rows;  // stage by stage, in the order of execution
  std::int64_t shards = 1;
  std::int64_t tensor_bytes = 0;   // whole, each tensor once
  std::int64_t held_bytes = 0;     // over all shards
  std::int64_t padding_bytes = 0;  // of these
  double collective_bytes = 0;     // of one rank and step: all rows and hand-overs
  // By stage, of one rank and step: activations that it hands to the next. Empty of one stage.
  std::vector<double> hand_over_bytes = {};
  double replication() const {
    return tensor_bytes > 0 ? as_double(held_bytes - padding_bytes) / as_double(tensor_bytes) : 1;
  }
};

// Of a training step `plan` says what data-parallel ranks share out.
ShardTable shard_table(const OperatorGraph& graph, const std::optional<TrainingPlan>& plan = {});

// The shards of a stage: runs that lie `stride` apart, see rank_places.hpp.
std::vector<ShardRun> owners_of(const Parallel& parallel, std::size_t stage);
std::string owners_text(const std::vector<ShardRun>& runs);  // "0-3, 8-11"

}  // namespace halmark::simulate
