// Peaks of a share of a device: the denominators of utilisation.
#pragma once

#include <optional>

#include "core/device.hpp"

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

// A figure with a thread count was scaled by the device to the share; one without belongs to all
// parts.
double per_shard(double figure, int figure_threads, ShardShare share);

}  // namespace halmark
