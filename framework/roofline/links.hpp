// Links: how fast a device passes bytes to the others of a group, and what of a collective has to
// pass where.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/device.hpp"
#include "core/work.hpp"

namespace halmark::roofline {

// Bytes that some link has to carry in one direction, whatever the algorithm is.
struct Passage {
  enum class Over { link, network, both };
  double bytes = 0;  // 0 = nothing is known of it
  Over over = Over::link;
};

// A group fills its domains one after the other; devices that are not of the group are as busy as
// those that are. Over a network it is not known whether switches add on the way.
struct Links {
  Links() = default;
  // `network`: of one device, one direction, between link domains: with several adapters per node
  // all of them together over its devices. Nothing = as fast as the link, which keeps it a bound.
  Links(const Device& device, std::optional<double> network);

  bool takes_network(std::int64_t ranks) const {
    const bool is_beyond = domain_devices > 0 && ranks > domain_devices;
    return network_bytes_per_s && (is_beyond || !link_bytes_per_s);
  }
  // Of a collective over `ranks`; nothing when the device states no link.
  std::optional<double> bytes_per_s(std::int64_t ranks) const {
    return takes_network(ranks) ? network_bytes_per_s : link_bytes_per_s;
  }

  // Of one rank, and of one device's part of what its domain exchanges with the others.
  std::array<Passage, 2> least(const Work& work, std::int64_t ranks) const;
  // The fastest link, one direction; `_max`: the upper end where sources disagree.
  std::optional<double> link_bytes_per_s, link_bytes_per_s_max;
  std::optional<double> network_bytes_per_s;
  std::int64_t domain_devices = 0;  // 0 = no end is stated
  bool reduces_in_switch = false;
  std::string name, source;  // of the link

 private:
  double domain_of(std::int64_t ranks) const;  // devices of the group in one domain
};

}  // namespace halmark::roofline
