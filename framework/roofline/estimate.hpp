// How long an execution is likely to take on the figures of a device alone: bytes read cold and
// bytes found warm one after the other, in two levels. A guess with a sum in it, so no bound (that
// is bound.hpp) and no ground to doubt a measurement.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/device.hpp"
#include "core/limiter.hpp"
#include "core/work.hpp"
#include "roofline/links.hpp"
#include "roofline/peaks.hpp"

namespace halmark {

struct RooflineEstimate {
  double compute_ns = 0;
  double memory_ns = 0;
  double ns = 0;  // the larger
  Limiter limiter = Limiter::unknown;
};

// `work` of one execution by one shard. Constants come from memory; the rest from the fastest level
// that the device states, because activations may be warm. Nothing when the device states neither
// figure that the work needs. What has to be transferred is limited by communication, whatever the
// larger term is.
std::optional<RooflineEstimate> roofline_estimate(const Work& work, const Device& device,
                                                  ShardShare share);

// The estimates of many pieces of work on one shard, without asking the device again for each.
class RooflineRates {
 public:
  // `network_bytes_per_s`: see roofline::Links.
  RooflineRates(const Device& device, ShardShare share,
                std::optional<double> network_bytes_per_s = {});

  // As roofline_estimate without any transfer, in ns.
  std::optional<double> local_ns(const Work& work) const;
  // With the transfer of a collective over `ranks`: bytes through the bus of a rank (bus factor of
  // nccl-tests) over the rate of its link, or of the network where the ranks do not fit into one
  // domain; never below its own memory traffic. Nothing when the device states no rate for it.
  std::optional<double> ns(const Work& work, std::int64_t ranks) const;

  const roofline::Links& links() const { return links_; }

 private:
  std::array<double, 32> flops_per_s_{};  // by dtype number; 0 = no peak
  double memory_bytes_per_s_ = 0, fastest_bytes_per_s_ = 0;
  roofline::Links links_;
};

}  // namespace halmark
