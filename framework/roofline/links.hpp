// Links: how fast a device passes bytes to the others of a group.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/device.hpp"

namespace halmark::roofline {

struct Links {
  Links() = default;
  // `network`: of one device, one direction, between link domains; nothing = as fast as the link,
  // which keeps it a bound.
  Links(const Device& device, std::optional<double> network);

  bool takes_network(std::int64_t ranks) const {
    const bool is_beyond = domain_devices > 0 && ranks > domain_devices;
    return network_bytes_per_s && (is_beyond || !link_bytes_per_s);
  }
  // Of a collective over `ranks`; nothing when the device states no link.
  std::optional<double> bytes_per_s(std::int64_t ranks) const {
    return takes_network(ranks) ? network_bytes_per_s : link_bytes_per_s;
  }

  // The fastest link, one direction; `_max`: the upper end where sources disagree.
  std::optional<double> link_bytes_per_s, link_bytes_per_s_max;
  std::optional<double> network_bytes_per_s;
  std::int64_t domain_devices = 0;  // 0 = no end is stated
  std::string name, source;         // of the link
};

}  // namespace halmark::roofline
