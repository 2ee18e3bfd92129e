// Written from results/schema/front_proof.md, not from the roofline that the prover asks: the two
// meet in every proof that is checked, and a defect of one of them is seen there.
#include "verify/front_proof/front_proof_bounds.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/ranges.hpp"

namespace halmark::front_proof {
namespace {

constexpr std::array<const char*, 4> levels = {"l1", "l2", "l3", "memory"};

struct Share {
  const Device& device;
  int threads;  // of one shard
  int shards;   // at once; 1 = the share is looked at alone
  int all() const { return threads * shards; }
};

std::string peak_id(const std::string& what, int threads, int shards) {
  std::string out = what + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  if (shards > 1) out += " shared by " + std::to_string(shards) + " shards";
  return out;
}

// More threads can do at least what fewer were seen to do. The best figure of fewer threads lies at
// a count that was measured, or just below one.
template <typename Entry, typename At>
std::optional<Entry> best_up_to(const std::vector<Entry>& entries, const At& at,
                                double Entry::*rate, int threads) {
  std::optional<Entry> best = at(threads);
  if (!best) return best;
  std::vector<int> counts;
  for (const Entry& entry : entries)
    counts.insert(counts.end(), {entry.threads - 1, entry.threads});
  std::ranges::sort(counts);
  for (const int n : counts) {
    if (n < 1 || n >= threads) continue;
    const std::optional<Entry> fewer = at(n);
    if (fewer && (*fewer).*rate > (*best).*rate) best = fewer;
  }
  return best;
}

// Where sources of a whole device disagree, a bound has to hold for all of them.
template <typename Entry>
double upper(const Entry& entry, double Entry::*rate, std::optional<double> Entry::*high) {
  if (entry.threads != 0) return entry.*rate;
  return std::max(entry.*rate, (entry.*high).value_or(0));
}

// Packed weights are multiplied in the widest of these that the device has, unless it takes them.
Dtype multiplied(const Device& device, Dtype dtype) {
  if (dtype != Dtype::f4_e2m1 || device.peak(dtype, 0)) return dtype;
  for (const Dtype wide : {Dtype::bf16, Dtype::f16, Dtype::f32}) {
    if (device.peak(wide, 0)) return wide;
  }
  return dtype;
}

void add_operations(const Share& share, const Work& work, std::vector<ExpectedTerm>& out) {
  const std::vector<halmark::Peak>& peaks = share.device.peaks;
  const bool is_stated = work.compute_dtype == Dtype::f4_e2m1 ||
                         contains(peaks, work.compute_dtype, &halmark::Peak::dtype);
  if (work.matmul_flops <= 0 || !is_stated) return;
  const Dtype dtype = multiplied(share.device, work.compute_dtype);
  const auto at = [&](int n) { return share.device.peak(dtype, n); };
  const auto peak = best_up_to(peaks, at, &halmark::Peak::flops_per_s, share.all());
  if (!peak || peak->flops_per_s <= 0) return;
  const std::string path = peak->path.empty() ? std::string(dtype_name(dtype)) : peak->path;
  const double per_s =
      upper(*peak, &halmark::Peak::flops_per_s, &halmark::Peak::flops_per_s_high) / share.shards;
  out.push_back({.peak = peak_id(path, peak->threads, share.shards),
                 .source = peak->source,
                 .per_s = per_s,
                 .amount = work.matmul_flops,
                 .counts_operations = true});
}

// How an execution's bytes come round: constants in a ring, the rest in a set of its own.
struct Rounds {
  double constant = 0, warm = 0, ring = 0, warm_set = 0;
};

Rounds rounds_of(const Work& work, const KernelCase& k) {
  const double bytes = work.bytes(), constant = std::min(work.constant_bytes, bytes);
  const double sets = k.sets;
  switch (k.mode) {
    case CacheMode::hot:
      return {.warm = bytes, .warm_set = bytes};
    case CacheMode::rotate_const:
    case CacheMode::in_stack:
      return {constant, bytes - constant, constant * sets, bytes - constant};
    case CacheMode::rotate_all:
    case CacheMode::flush:
      return {.constant = bytes, .ring = bytes * sets};
  }
  return {};
}

// The part of `bytes` that caches of `capacity` cannot hold while `set` comes round.
double outside(double bytes, double set, double capacity) {
  return set <= 0 ? 0 : bytes * std::max(0.0, 1.0 - capacity / set);
}

void add_levels(const Share& share, const Rounds& rounds, std::vector<ExpectedTerm>& out) {
  const Device& device = share.device;
  const bool has_caches = std::ranges::any_of(device.bandwidths, [](const Bandwidth& b) {
    return b.level != "memory" && contains(levels, b.level) && b.bytes_per_s > 0;
  });
  double capacity = 0;
  bool is_nearest = true;
  for (const char* level : levels) {
    const auto at = [&](int n) { return device.bandwidth(level, n); };
    const auto best = best_up_to(device.bandwidths, at, &Bandwidth::bytes_per_s, share.all());
    if (!best || best->bytes_per_s <= 0) continue;
    double warm = 0;
    if (has_caches)
      warm = is_nearest ? rounds.warm : outside(rounds.warm, rounds.warm_set, capacity);
    const double amount = outside(rounds.constant, rounds.ring + rounds.warm, capacity) + warm;
    const double per_s =
        upper(*best, &Bandwidth::bytes_per_s, &Bandwidth::bytes_per_s_high) / share.shards;
    if (amount > 0) {
      out.push_back(
          {peak_id(level, best->threads, share.shards), best->source, per_s, amount, false});
    }
    // Probes use half a cache.
    capacity += 2.0 * static_cast<double>(at(share.threads)->working_set_bytes);
    is_nearest = false;
  }
}

void add_link(const Device& device, const Work& work, std::vector<ExpectedTerm>& out) {
  const Link* fastest = nullptr;
  for (const Link& link : device.links) {
    if (link.bytes_per_s > (fastest ? fastest->bytes_per_s : 0)) fastest = &link;
  }
  if (work.transfer_bytes <= 0 || fastest == nullptr) return;
  const double per_s = std::max(fastest->bytes_per_s, fastest->bytes_per_s_high.value_or(0));
  // A switch that adds leaves a rank its own message to send, and the sum to receive.
  const bool is_summed = fastest->reduces_in_switch && work.exchange == Exchange::reduce;
  const double amount = is_summed ? work.message_bytes : work.transfer_bytes;
  out.push_back({"link " + fastest->name, fastest->source, per_s, amount, false});
}

}  // namespace

std::vector<ExpectedTerm> expected_terms(const Device& device, int threads, const KernelCase& k,
                                         const Work& work) {
  const int own = threads == 0 ? 0 : std::max(1, threads / std::max(1, k.parts));
  const Rounds rounds = rounds_of(work, k);
  std::vector<ExpectedTerm> out;
  std::vector<int> at_once = {1};
  if (k.shards_at_once > 1) at_once.push_back(k.shards_at_once);
  for (const int shards : at_once) {
    const Share share{device, own, shards};
    add_operations(share, work, out);
    add_levels(share, rounds, out);
  }
  add_link(device, work, out);
  return out;
}

}  // namespace halmark::front_proof
