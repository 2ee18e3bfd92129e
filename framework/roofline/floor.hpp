// Roofline of one execution: its fastest possible time on a device, and what bounds it.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "core/device.hpp"
#include "core/latency.hpp"
#include "kernels/contract.hpp"

namespace halmark {

// Which share of a device computes: `threads` of it (0 = all), one of `parts` equal cuts. Figures
// that a device states for itself as a whole are divided by `parts`; figures per thread count are
// not.
struct ShardShare {
  int threads = 0;
  int parts = 1;
};

// The type in which `device` multiplies operands of `dtype`: itself, but 16 bits for packed 4-bit
// weights where the device states no 4-bit peak. They are unpacked on the way then.
Dtype multiplying_dtype(const Device& device, Dtype dtype);

// FLOP/s of one shard in multiplying_dtype; nothing when the device states no peak for it.
std::optional<double> shard_peak(const Device& device, Dtype dtype, ShardShare share);

struct Floor {
  double compute_ns = 0;
  double memory_ns = 0;
  double ns = 0;      // the larger
  std::string bound;  // "compute", "memory", "communication"
};

// `work` of one execution by one shard. Constants come from memory; the rest from the fastest level
// that the device states, because activations may be warm. Nothing when the device states neither
// figure that the work needs.
std::optional<Floor> work_floor(const Work& work, const Device& device, ShardShare share);
// Collectives are bounded by communication, whatever the larger term is.
std::optional<Floor> problem_floor(const Problem& problem, const Device& device, ShardShare share);

// The floor of many pieces of work on one shard, without asking the device again for each.
class RooflineRates {
 public:
  RooflineRates(const Device& device, ShardShare share);
  // As Floor::ns of work_floor.
  std::optional<double> floor_ns(const Work& work) const;

 private:
  std::array<double, 32> flops_per_s_{};  // by dtype number; 0 = no peak
  double memory_bytes_per_s_ = 0, fastest_bytes_per_s_ = 0;
};

// A latency that is the floor and says so; for answers without any measurement.
std::optional<Latency> roofline_latency(const Problem& problem, const Device& device,
                                        ShardShare share);

}  // namespace halmark
