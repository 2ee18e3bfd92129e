// What `halmark fabric show` prints.
#pragma once

#include <span>

#include "report/views/view.hpp"
#include "simulate/fabric/topology.hpp"

namespace halmark::pages {

// One fabric: levels, links with their sources, memory.
report::View fabric_page(const fabric::Topology& topology);
// {"known": [...]}: one line each.
report::View fabrics_page(std::span<const fabric::Topology> topologies);

}  // namespace halmark::pages
