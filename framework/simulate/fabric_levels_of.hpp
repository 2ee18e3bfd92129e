// A topology as collectives see it.
#pragma once

#include "simulate/collectives/fabric_levels.hpp"
#include "simulate/fabric/topology.hpp"

namespace halmark::simulate {

// Levels whose groups lie in each other, from the inside out: the rate of each rank when all send
// at once (over a network whose flows choose their uplinks, that of the slowest of them on
// average), the latency between the farthest, and whether a rank leaves by the link that it takes
// to the level inside. Rails cross the nodes and are left out; what adds in switches is no property
// of a topology's file and is left off. Throws Error (exit 2) where groups of a level are not
// alike.
FabricLevels fabric_levels_of(const fabric::Topology& topology);

}  // namespace halmark::simulate
