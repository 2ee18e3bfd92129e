// What carries bytes over a link, and how fast physics and software let the first one arrive.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halmark::fabric {

enum class Transport { shared_memory, pcie, nvlink, xgmi, ici, ub, ib, roce, tcp };

std::string_view transport_name(Transport transport);
std::optional<Transport> parse_transport(std::string_view text);
std::vector<std::string> transport_names();

// InfiniBand and RoCE: what the profile `lite` has switched off.
bool is_rdma(Transport transport);
// A network: distances of kilometres are possible.
bool is_network(Transport transport);

// The least one-way latency in ns of a link of which `ends` (0 to 2) are no switch, over
// `length_km` of fibre. A latency below it is implausible whoever states it. Lower ends of public
// ranges, not typical values: see transport.cpp for the source of each.
double latency_floor_ns(Transport transport, int ends, double length_km);

}  // namespace halmark::fabric
