// Where the experts of a deployment are: expert parallelism is carved out of the tensor-parallel
// and data-parallel ranks of a stage.
#pragma once

#include <cstdint>

#include "core/chosen/configuration.hpp"

namespace halmark {

inline constexpr std::int64_t routing_skew_max = 1000;  // percent; the contracts' own limit

// ep = in_tensor * across_replicas. The ranks of a tensor-parallel group see the same tokens, so
// expert parallelism takes from them first and needs no exchange beyond the all-reduce that tensor
// parallelism has anyway. What is left of ep crosses replicas, whose tokens differ: those are
// exchanged by all-to-all. What is left of tp splits the width of every expert.
struct ExpertLayout {
  int ep = 1;
  int in_tensor = 1;
  int across_replicas = 1;
  int width = 1;  // expert tensor parallelism: tp / in_tensor

  // Expert-parallel rank of a tensor rank of a replica; its experts are [rank, rank + 1) * E / ep.
  int rank(int replica, int tensor_rank) const {
    return tensor_rank / width * across_replicas + replica % across_replicas;
  }
};

// ep must divide tp * dp.
ExpertLayout expert_layout(const Parallel& parallel);

}  // namespace halmark
