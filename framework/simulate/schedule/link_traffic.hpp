// What collectives and transfers of closed-form time send over the links of a topology.
#pragma once

#include <optional>
#include <vector>

#include "simulate/schedule/device_wires.hpp"
#include "simulate/schedule/program/stage_program.hpp"
#include "simulate/timeline/timeline.hpp"

namespace halmark::schedule {

// Bytes of one step by link: level by level, each rank sends its part of the message to the rank at
// the same place in the next group, the least that any algorithm sends over a level. busy_ps: as
// long as the bytes take alone. Nothing for levels without a topology, and for one so large that
// its routes take longer than the simulation.
std::optional<std::vector<simulate::TimelineResource>> link_traffic(const Programs& programs,
                                                                    const DeviceGrid& grid,
                                                                    const Site& site,
                                                                    std::uint64_t seed);

}  // namespace halmark::schedule
