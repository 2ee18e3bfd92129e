// Roofline of a rank of many equal devices: kernels at the peaks of one device, collectives at its
// link. What it says is the fastest possible time, never an expectation.
#pragma once

#include <optional>

#include "core/device.hpp"
#include "roofline/floor.hpp"

namespace halmark {

class ClusterRoofline {
 public:
  // `network_bytes_per_s`: of one device, one direction, between link domains; nothing = as fast as
  // the link, which keeps it a bound.
  ClusterRoofline(const Device& device, std::optional<double> network_bytes_per_s);

  // Nothing where the device states no figure that the work needs. Collectives: bytes through the
  // bus of a rank (bus factor of nccl-tests) over the rate of its link, or of the network where
  // `ranks` do not fit into one domain; never below their own memory traffic.
  std::optional<double> floor_ns(const Problem& problem, const Work& work) const;
  // Rate between devices of a collective over `ranks`; nothing when the device states no link.
  std::optional<double> link_bytes_per_s(std::int64_t ranks) const;

 private:
  RooflineRates rates_;
  std::optional<double> link_bytes_per_s_, network_bytes_per_s_;
  std::int64_t domain_devices_ = 0;  // 0 = no end is stated
};

}  // namespace halmark
