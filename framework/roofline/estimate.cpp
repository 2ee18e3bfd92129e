// Two levels and a sum are what a datasheet supports: it states memory and rarely a cache. The
// figures are an expectation of the best case; what is provable of them is in bound.cpp.
#include "roofline/estimate.hpp"

#include <algorithm>

#include "core/numeric/cast.hpp"
#include "core/text/units.hpp"

namespace halmark {

namespace {

// Level "memory", and the fastest level stated at all.
struct Bandwidths {
  std::optional<double> memory;
  std::optional<double> fastest;
};

Bandwidths bandwidths(const Device& device, ShardShare share) {
  Bandwidths out;
  for (const Bandwidth& stated : device.bandwidths) {
    const auto found = device.bandwidth(stated.level, share.threads);
    if (!found || found->bytes_per_s <= 0) continue;
    const double bytes_per_s = per_shard(found->bytes_per_s, found->threads, share);
    out.fastest = std::max(out.fastest.value_or(0), bytes_per_s);
    if (stated.level == "memory") out.memory = bytes_per_s;
  }
  return out;
}

// Element-wise work has no peak of its own here: it is limited by bytes.
std::optional<double> compute_ns(const Work& work, const Device& device, ShardShare share) {
  if (work.matmul_flops <= 0) return 0.0;
  const auto peak = shard_peak(device, work.compute_dtype, share);
  if (!peak) return std::nullopt;
  return work.matmul_flops / *peak * ns_per_s;
}

std::optional<double> memory_ns(const Work& work, const Device& device, ShardShare share) {
  const Bandwidths stated = bandwidths(device, share);
  if (!stated.memory || !stated.fastest) return std::nullopt;
  const double cold = work.constant_bytes / *stated.memory;
  const double warm = (work.bytes() - work.constant_bytes) / *stated.fastest;
  return (cold + warm) * ns_per_s;
}

}  // namespace

std::optional<RooflineEstimate> roofline_estimate(const Work& work, const Device& device,
                                                  ShardShare share) {
  const auto compute = compute_ns(work, device, share);
  const auto memory = memory_ns(work, device, share);
  if (!compute || !memory) return std::nullopt;
  RooflineEstimate out{
      .compute_ns = *compute, .memory_ns = *memory, .ns = std::max(*compute, *memory)};
  out.limiter = *compute > *memory ? Limiter::compute : Limiter::memory;
  if (work.transfer_bytes > 0) out.limiter = Limiter::communication;
  return out;
}

RooflineRates::RooflineRates(const Device& device, ShardShare share,
                             std::optional<double> network_bytes_per_s)
    : links_(device, network_bytes_per_s) {
  for (const Dtype dtype : all_dtypes()) {
    flops_per_s_.at(as_size(dtype)) = shard_peak(device, dtype, share).value_or(0);
  }
  const Bandwidths stated = bandwidths(device, share);
  memory_bytes_per_s_ = stated.memory.value_or(0);
  fastest_bytes_per_s_ = stated.fastest.value_or(0);
}

std::optional<double> RooflineRates::local_ns(const Work& work) const {
  if (memory_bytes_per_s_ <= 0) return std::nullopt;
  double compute = 0;
  if (work.matmul_flops > 0) {
    const double rate = flops_per_s_.at(as_size(work.compute_dtype));
    if (rate <= 0) return std::nullopt;
    compute = work.matmul_flops / rate;
  }
  const double cold = work.constant_bytes / memory_bytes_per_s_;
  const double warm = (work.bytes() - work.constant_bytes) / fastest_bytes_per_s_;
  return std::max(compute, cold + warm) * ns_per_s;
}

std::optional<double> RooflineRates::ns(const Work& work, std::int64_t ranks) const {
  const auto own = local_ns(work);
  if (!own || work.transfer_bytes <= 0) return own;
  const auto rate = links_.bytes_per_s(ranks);
  if (!rate) return std::nullopt;
  return std::max(*own, work.transfer_bytes / *rate * ns_per_s);
}

}  // namespace halmark
