// What `halmark fabric collectives` prints: the fastest way of each collective by size, against the
// bound, and why.
#pragma once

#include <span>

#include "report/views/view.hpp"
#include "simulate/collectives/cost.hpp"
#include "simulate/fabric/topology.hpp"

namespace halmark::pages {

// {"ranks", "levels", "collectives": [{"collective", "bytes", "seconds", "bus_bytes_per_s",
// "bound_s", "algorithm", "protocol", "latency_s", "transfer_s", "reason", "others"}]}. Of one rank
// seconds are 0 and what names a way is null. Throws as simulate::check does.
report::View collectives_page(const simulate::FabricLevels& fabric,
                              std::span<const simulate::Collective> collectives,
                              std::span<const double> sizes);

// All collectives over all ranks of a fabric, from 1 KiB to 4 GiB, at the full bandwidth of its
// links. Throws as simulate::fabric_levels_of does.
report::View collectives_page(const fabric::Topology& topology);

}  // namespace halmark::pages
