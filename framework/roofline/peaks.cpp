// MFU divides by what a share of the device was seen or said to do, so a cut of a device that
// states one figure for all of it gets its equal part.
#include "roofline/peaks.hpp"

namespace halmark {

double per_shard(double figure, int figure_threads, ShardShare share) {
  return figure_threads > 0 ? figure : figure / share.parts;
}

Dtype multiplying_dtype(const Device& device, Dtype dtype) {
  if (dtype != Dtype::f4_e2m1 || device.peak(dtype, 0)) return dtype;
  for (const Dtype wide : {Dtype::bf16, Dtype::f16, Dtype::f32}) {
    if (device.peak(wide, 0)) return wide;
  }
  return dtype;
}

std::optional<double> shard_peak(const Device& device, Dtype dtype, ShardShare share) {
  const auto peak = device.peak(multiplying_dtype(device, dtype), share.threads);
  if (!peak || peak->flops_per_s <= 0) return std::nullopt;
  return per_shard(peak->flops_per_s, peak->threads, share);
}

}  // namespace halmark
