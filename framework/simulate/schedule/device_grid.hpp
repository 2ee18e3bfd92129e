// Which device a rank of a deployment is: numbered nearest first, as group_stride() says.
#pragma once

#include <cstdint>
#include <vector>

#include "model/graph/expert_layout.hpp"
#include "model/graph/rank_places.hpp"

namespace halmark::schedule {

// Ranks of a collective, `stride` devices apart.
struct RankGroup {
  std::int64_t ranks = 1, stride = 1;
  bool operator==(const RankGroup&) const = default;
};

// The devices of a stage of one pipeline lie side by side (a block), the stages of a pipeline after
// each other, and the pipelines outermost.
struct DeviceGrid {
  std::int64_t block = 1;      // devices of a stage: tensor, context, replicas that share experts
  std::int64_t stages = 1;     // pipeline
  std::int64_t pipelines = 1;  // replicas, or groups of them that exchange experts' rows
  std::int64_t tensor = 1;

  explicit DeviceGrid(const Parallel& parallel)
      : block(group_stride(parallel, Split::pipeline)),
        stages(parallel.pp),
        pipelines(parallel.dp / expert_layout(parallel).across_replicas),
        tensor(parallel.tp) {}
  std::int64_t devices() const { return block * stages * pipelines; }
  std::int64_t first(std::int64_t pipeline, std::int64_t stage) const {
    return (pipeline * stages + stage) * block;
  }
  // Devices that hold the same weights as the `index`-th of a stage's first tensor group: replicas
  // and context ranks.
  std::vector<std::int64_t> copies(std::int64_t stage, std::int64_t index) const {
    std::vector<std::int64_t> out;
    for (std::int64_t p = 0; p < pipelines; ++p) {
      for (std::int64_t i = index; i < block; i += tensor) out.push_back(first(p, stage) + i);
    }
    return out;
  }
  std::int64_t copy_count() const { return pipelines * (block / tensor); }
  // The distance that stands for the group of copies: the farthest that there is.
  std::int64_t copy_stride() const { return pipelines > 1 ? block * stages : tensor; }
};

}  // namespace halmark::schedule
