// What joins devices where no fabric is named: their own link.
#pragma once

#include <cstdint>

#include "core/device.hpp"
#include "simulate/fabric/topology.hpp"

namespace halmark::fabric {

inline constexpr const char* own_link = "link";  // its id

// `devices` alike in one node, each by its fastest link to one switch, as late as physics has it
// (latency_floor_ns): what times follow from it are bounds, as those of the roofline. One device
// needs no link. Throws Error (exit 2): a device that states no link, and more devices than its
// link joins.
Topology device_fabric(const Device& device, std::int64_t devices);

}  // namespace halmark::fabric
