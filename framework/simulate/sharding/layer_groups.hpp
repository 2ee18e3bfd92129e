// A strategy per group of layers on the shards of one stage: the chain of layer_choice.hpp made of
// graphs that have one strategy each.
#pragma once

#include <optional>
#include <vector>

#include "simulate/sharding/planner.hpp"

namespace halmark::simulate {

// Weights and cache of one layer of a type on one rank; weights of what is of the first end.
std::int64_t layer_bytes(const OperatorGraph& graph, std::int32_t type);
std::int64_t table_bytes(const OperatorGraph& graph);

inline constexpr std::size_t group_strategies_max =
    8;  // that are mixed, the fastest for all layers

// Strategies are those of `layouts` without a pipeline; shards with a pipeline keep one for all.
// Where activations of a layer are laid out over fewer groups of tokens than before, they are
// gathered; over more, each keeps its part. Nothing where no mixture beats the first layout, or
// where that one does not fit and no mixture does.
std::optional<GroupedLayers> group_layers(const ModelSpec& spec, const PlanQuestion& question,
                                          const std::vector<PlannedLayout>& layouts,
                                          const OperatorTime& time);

}  // namespace halmark::simulate
