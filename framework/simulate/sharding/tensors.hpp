// The tensors of one operator with their sizes, whole and on one shard. Nothing here knows where
// they lie.
#pragma once

#include <vector>

#include "simulate/sharding/shard_table.hpp"

namespace halmark::simulate {

// Constant operands as the op's contract states them, then biases and scales, whose bytes the
// operator counts beside them. shard_bytes: before data-parallel ranks share anything out.
std::vector<ShardRow> tensors_of(const Operator& op, Dtype activation);

}  // namespace halmark::simulate
