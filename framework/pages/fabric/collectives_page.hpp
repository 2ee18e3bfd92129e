// What `halmark fabric collectives` prints: the fastest way of each collective by size, against the
// bound, and why.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

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

struct CollectivesRequest {
  std::string fabric;       // an id, or a file
  bool simulates = false;   // by events as well
  std::int64_t groups = 1;  // at the same time, each of every `groups`-th rank; > 1 simulates
};

// All collectives over the ranks of a group, from 1 KiB to 4 GiB, at the full bandwidth of the
// links. Beside that, where one node's links are those of measured systems, "as_measured", and
// where it is asked for, "by_events". Throws as simulate::fabric_levels_of and
// traffic::levels_of_group do.
report::View collectives_page(const fabric::Topology& topology,
                              const CollectivesRequest& asked = {});
// Of one of the fabrics in `folders`, or of a file.
report::View collectives_page(const CollectivesRequest& asked,
                              const std::vector<std::filesystem::path>& folders);

}  // namespace halmark::pages
