#include "roofline/cluster.hpp"

#include <algorithm>

namespace halmark {

ClusterRoofline::ClusterRoofline(const Device& device, std::optional<double> network_bytes_per_s)
    : rates_(device, {}), network_bytes_per_s_(network_bytes_per_s) {
  for (const Link& link : device.links) {
    if (link.bytes_per_s <= link_bytes_per_s_.value_or(0)) continue;
    link_bytes_per_s_ = link.bytes_per_s;
    domain_devices_ = link.domain_devices.value_or(0);
  }
}

std::optional<double> ClusterRoofline::link_bytes_per_s(std::int64_t ranks) const {
  const bool is_beyond = domain_devices_ > 0 && ranks > domain_devices_;
  if (network_bytes_per_s_ && (is_beyond || !link_bytes_per_s_)) return network_bytes_per_s_;
  return link_bytes_per_s_;
}

std::optional<double> ClusterRoofline::floor_ns(const Problem& problem, const Work& work) const {
  constexpr double ns_per_s = 1e9;
  const auto own = rates_.floor_ns(work);
  if (!own || work.transfer_bytes <= 0) return own;
  const auto rate = link_bytes_per_s(problem.params.value_or("ranks", 1));
  if (!rate) return std::nullopt;
  return std::max(*own, work.transfer_bytes / *rate * ns_per_s);
}

}  // namespace halmark
