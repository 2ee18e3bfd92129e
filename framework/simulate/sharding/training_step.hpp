// What a training step takes, and what a rank of it holds: a fold over the forward graph.
#pragma once

#include "model/graph/graph.hpp"
#include "model/pricing/memory.hpp"
#include "model/training/training.hpp"
#include "simulate/sharding/step_cost.hpp"

namespace halmark::simulate {

// Every operator as often as its passes say (the backward pass is two products of the forward one's
// size), stages filled and drained as by 1F1B, whose length is that of all forward passes before
// all backward ones (Narayanan et al., 2104.04473, section 2.2.1), and the gradients of the fullest
// stage exchanged once, hidden behind nothing: an all-reduce, or with ZeRO a reduce-scatter and an
// all-gather.
StepCost training_step_cost(const OperatorGraph& graph, const TrainingPlan& plan,
                            const OperatorTime& time);

// Of the fullest rank: weights with gradients and optimizer states; activations with what is
// gathered and recomputed.
RankMemory training_rank_memory(const OperatorGraph& graph, const TrainingPlan& plan);

}  // namespace halmark::simulate
