// Strategies of tensors: which hold of a tensor in a deployment, why, and where one cannot stand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/graph/graph.hpp"
#include "model/training/training.hpp"

namespace halmark::simulate {

// How a tensor is split, or what its copies are for. replicate: shards hold it whole and alike.
enum class ShardStrategy {
  replicate,
  pipeline,       // on the shards of one stage
  tensor_column,  // by its outputs, or by heads
  tensor_row,     // by its inputs: partial sums are added
  vocab,          // by rows of the vocabulary
  expert,         // by whole experts
  data,           // copies, each with sequences of its own
  zero1,          // copies whose optimizer states are shared out
  zero2,          // and gradients
  zero3,          // and the weights themselves
  sequence,       // copies, each with a part of the tokens between products
  context,        // copies, each with a part of the tokens of every sequence
};
std::string_view strategy_name(ShardStrategy strategy);  // "tensor_column"

// Why a strategy cannot stand on a tensor of this operator; nothing when it can: experts alone are
// split by experts, tables by the vocabulary, and a norm is not what a pipeline is cut for.
std::optional<std::string> misfit(const Operator& op, ShardStrategy strategy);

// What a tensor's strategies follow from; all must outlive it.
struct ShardContext {
  const OperatorGraph& graph;
  const TrainingPlan* plan;  // nullptr: nothing is trained
  const Parallel& parallel;
};

// Ranks with the same part of the tensor, of those that work on different tokens.
std::int64_t copies_of(const ShardContext& context, const Operator& op);
// All that holds of a tensor, the one that its size follows from first; never empty.
std::vector<ShardStrategy> strategies_of(const ShardContext& context, const Operator& op,
                                         bool is_split);
// Why the tensor has it, in a few words.
std::string reason_of(const ShardContext& context, const Operator& op, ShardStrategy strategy);

}  // namespace halmark::simulate
