// Whether the stacks of a group's ranks meet in the same collectives.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"

namespace halmark {

// Ranks that execute different collectives, or collectives that leave some of them out, would wait
// for each other until a deadline: why these stacks cannot run, or nothing. At least one stack.
std::optional<std::string> collective_mismatch(std::span<const Stack> per_rank);

// How ranks are cut into the groups in which they meet, where those are not all ranks: as few cuts
// as hold every group, each of all ranks.
std::vector<std::vector<std::vector<int>>> rank_cuts(std::span<const Stack> per_rank);

}  // namespace halmark
