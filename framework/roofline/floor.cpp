#include "roofline/floor.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace halmark {

namespace {

constexpr double ns_per_s = 1e9;

// A figure with a thread count was scaled by the device to ours; one without belongs to all parts.
double per_shard(double figure, int figure_threads, ShardShare share) {
  return figure_threads > 0 ? figure : figure / share.parts;
}

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

// Element-wise work has no peak of its own here: it is bounded by bytes.
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

std::optional<Floor> work_floor(const Work& work, const Device& device, ShardShare share) {
  const auto compute = compute_ns(work, device, share);
  const auto memory = memory_ns(work, device, share);
  if (!compute || !memory) return std::nullopt;
  Floor out{.compute_ns = *compute, .memory_ns = *memory, .ns = std::max(*compute, *memory)};
  out.bound = *compute > *memory ? "compute" : "memory";
  if (work.transfer_bytes > 0) out.bound = "communication";
  return out;
}

RooflineRates::RooflineRates(const Device& device, ShardShare share) {
  for (const Dtype dtype : all_dtypes()) {
    flops_per_s_.at(static_cast<std::size_t>(dtype)) = shard_peak(device, dtype, share).value_or(0);
  }
  const Bandwidths stated = bandwidths(device, share);
  memory_bytes_per_s_ = stated.memory.value_or(0);
  fastest_bytes_per_s_ = stated.fastest.value_or(0);
}

std::optional<double> RooflineRates::floor_ns(const Work& work) const {
  if (memory_bytes_per_s_ <= 0) return std::nullopt;
  double compute = 0;
  if (work.matmul_flops > 0) {
    const double rate = flops_per_s_.at(static_cast<std::size_t>(work.compute_dtype));
    if (rate <= 0) return std::nullopt;
    compute = work.matmul_flops / rate;
  }
  const double cold = work.constant_bytes / memory_bytes_per_s_;
  const double warm = (work.bytes() - work.constant_bytes) / fastest_bytes_per_s_;
  return std::max(compute, cold + warm) * ns_per_s;
}

std::optional<Floor> problem_floor(const Problem& problem, const Device& device, ShardShare share) {
  const OpContract* contract = find_contract(problem.op);
  if (contract == nullptr) throw refused("op '" + problem.op + "' has no contract");
  auto out = work_floor(contract->work(problem.params), device, share);
  if (out && contract->is_collective()) out->bound = "communication";
  return out;
}

std::optional<Latency> roofline_latency(const Problem& problem, const Device& device,
                                        ShardShare share) {
  const auto floor = problem_floor(problem, device, share);
  if (!floor) return std::nullopt;
  Latency out;
  out.ns = out.low_ns = out.high_ns = out.lower_bound_ns = floor->ns;
  out.provenance = Provenance::roofline;
  out.reason = "fastest possible time on " + device.id;
  return out;
}

}  // namespace halmark
