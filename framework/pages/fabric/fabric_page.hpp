// What `halmark fabric show` prints.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "report/views/view.hpp"
#include "simulate/fabric/topology.hpp"

namespace halmark::pages {

// One fabric: levels, links with their sources, memory.
report::View fabric_page(const fabric::Topology& topology);
// The same of one of the fabrics in `folders`, or of a file; "" = a line for each of those known.
report::View fabric_page(const std::string& id, const std::vector<std::filesystem::path>& folders);
// {"known": [...]}: one line each.
report::View fabrics_page(std::span<const fabric::Topology> topologies);

}  // namespace halmark::pages
