// Ceilings: what a share of a device cannot exceed, resolved once, so that the bound of an
// execution is arithmetic on plain numbers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "roofline/bound.hpp"
#include "roofline/links.hpp"

namespace halmark::roofline {

struct Ceiling {
  std::string name;  // "bf16_matrix, 2 threads", "memory, 2 threads shared by 2 shards"
  double per_s = 0;  // FLOP/s or bytes/s, of one shard
  Level level = Level::compute;
  std::string source;  // "measured 2026-11-21", or a document
};

// Where sources of a device file disagree, the upper end counts: a bound has to hold for all.
class Ceilings {
 public:
  Ceilings() = default;  // nothing is known, nothing is bounded
  // Of one shard with `threads` threads of the device (0 = all of it). More threads can do at least
  // what fewer were seen to do: a probe that scaled badly is no ceiling. With `shards` > 1, that
  // many such shards run at once, each with work and caches of its own: beside its own ceilings
  // each has an equal share of those of all, which bounds the slowest. `network_bytes_per_s`: see
  // Links.
  Ceilings(const Device& device, int threads, int shards = 1,
           std::optional<double> network_bytes_per_s = {});

  // A bandwidth's level holds twice its measured working set (probes use half a cache); of a
  // working set W at least W minus all nearer caches comes from farther out, whatever the
  // replacement policy. A device that states no cache at all may have some: then no more than the
  // constants has to come from memory. Collectives (`ranks` of them): what Links::least says of a
  // rank and of its domain. Allocates nothing.
  Bound bound(const Work& work, const Traffic& traffic, std::int64_t ranks = 1) const;

  const Ceiling& at(std::int32_t source) const {
    return ceilings_[static_cast<std::size_t>(source)];
  }

 private:
  struct Rate {
    double per_s = 0;  // 0 = not known
    std::int32_t source = -1;
  };
  struct CacheLevel {
    Level level = Level::memory;
    double nearer_bytes = 0;  // capacity of all nearer levels
    std::array<Rate, 2> rates;
  };

  void add_peaks(const Device& device, int threads, int shards, std::size_t at);
  void add_levels(const Device& device, int threads, int shards, std::size_t at);
  void add_links(const Device& device, std::optional<double> network_bytes_per_s);
  const Rate& rate_over(Passage::Over over) const;
  Rate add(Ceiling ceiling);

  std::vector<Ceiling> ceilings_;
  std::array<std::array<Rate, 2>, 32> peaks_{};  // by dtype number: alone, shared
  std::array<CacheLevel, 4> levels_{};           // nearest first
  std::size_t level_count_ = 0, kinds_ = 1;
  bool has_caches_ = false;
  Links links_;
  Rate link_, network_, both_;
};

// Bound of a case on one shard; `work` is its contract's. `ceilings` are those of a shard, or of
// shards that run at once where the case has such.
Bound case_bound(const Work& work, const KernelCase& kernel_case, const Ceilings& ceilings);
// Of a problem within the step of a model, see step_traffic.
Bound step_bound(const Problem& problem, const Work& work, const Ceilings& ceilings);

}  // namespace halmark::roofline
