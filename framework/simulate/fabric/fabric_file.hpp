// Fabric files (configs/fabrics/*.toml): words and counts, or every link by itself, or both.
//
//   id = "two-nodes"                    latencies are one way, in us; bandwidths one way, in GB/s
//   [node]                              count, devices, numa
//   [node.host]                         a link: transport, latency_us, bandwidth_gbs, source
//   [scale_up]                          kind = "switch" | "two_tier" | "torus" | "mesh", and a link
//   [network]                           kind = "leaf" | "leaf_spine" | "rail", and a link
//   [network.uplink]                    a link
//   [wan]                               sites, cables, and a link with length_km
//   [[tier]]                            memory of a device, NUMA domain or node
//   [[entity]] [[link]] [[group]]       single ones, beside what the words above make
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/fabric/topology.hpp"

namespace halmark::fabric {

// Throws Error (exit 2) with file:line:column: unknown keys, no bandwidth, a latency below the
// physics of its transport (implausible_latency), links to what is not there, ranks that do not
// reach each other (disconnected), counts that do not fit, more than the profile allows.
Topology read_fabric(const std::string& path);
Topology parse_fabric(std::string_view text, std::string_view where);

// Every *.toml of the folders, sorted by id; of equal ids the one of the earlier folder.
std::vector<Topology> known_fabrics(const std::vector<std::filesystem::path>& folders);
// An id of the folders, or the path of a fabric file (*.toml). Throws Error (exit 2) with the
// nearest names.
Topology known_fabric(const std::string& id, const std::vector<std::filesystem::path>& folders);

}  // namespace halmark::fabric
