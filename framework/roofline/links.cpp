// A device may state several links (to its domain, to the host). A rank's collective is bounded by
// the fastest: it may use whichever it likes.
#include "roofline/links.hpp"

#include <algorithm>

namespace halmark::roofline {

Links::Links(const Device& device, std::optional<double> network) : network_bytes_per_s(network) {
  for (const Link& link : device.links) {
    if (link.bytes_per_s <= link_bytes_per_s.value_or(0)) continue;
    link_bytes_per_s = link.bytes_per_s;
    link_bytes_per_s_max = std::max(link.bytes_per_s, link.bytes_per_s_high.value_or(0));
    domain_devices = link.domain_devices.value_or(0);
    name = link.name;
    source = link.source;
  }
}

}  // namespace halmark::roofline
