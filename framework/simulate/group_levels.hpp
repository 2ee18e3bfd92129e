// The levels of a fabric as one group of ranks meets them, when groups of others lie between them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simulate/collectives/fabric_levels.hpp"

namespace halmark::simulate {

struct GroupLevels {
  FabricLevels fabric;  // protocols and the like of `whole`; its levels as below
  // Of each level of `fabric`: its number among those of `whole`.
  std::vector<std::size_t> of_whole;
};

// `ranks` that are `stride` devices apart. A level holds of them as many whole units of `stride`
// devices as fit into its groups, and a number that divides the ranks: what does not, crosses the
// level outside as if none were near. Levels that hold one rank each are left out. A rank keeps the
// rate that it has when all devices send at once: the groups between do the same. Nothing where the
// fabric ends before the last rank.
std::optional<GroupLevels> group_levels(const FabricLevels& whole, std::int64_t ranks,
                                        std::int64_t stride);

}  // namespace halmark::simulate
