// Resolving is slow (entries are searched by thread count, names are written) and done once per
// share of a device; bounding is a few divisions. Shared ceilings stand beside the own ones and not
// in their place: each is provable alone.
#include "roofline/ceilings.hpp"

#include <algorithm>
#include <set>

#include "core/lists.hpp"
#include "roofline/peaks.hpp"

namespace halmark::roofline {
namespace {

constexpr std::array<std::pair<const char*, Level>, 4> cache_levels{
    {{"l1", Level::l1}, {"l2", Level::l2}, {"l3", Level::l3}, {"memory", Level::memory}}};
enum At : std::size_t { alone, shared };

// The share of `bytes` that cannot be served from caches of `capacity` bytes, given that the same
// `working_set` comes round again and again.
double beyond(double bytes, double working_set, double capacity) {
  if (working_set <= 0) return 0;
  return bytes * std::max(0.0, 1.0 - capacity / working_set);
}

std::string named(const std::string& what, int threads, int shards) {
  const std::string share = shards > 1 ? " shared by " + std::to_string(shards) + " shards" : "";
  if (threads == 0) return what + share;  // of a whole device
  return what + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads") + share;
}

// Thread counts below `threads` at which the best rate can lie: rates are scaled up from one stated
// count to just below the next.
template <class Entry>
std::set<int> counts_below(const std::vector<Entry>& entries, int threads) {
  std::set<int> out;
  for (const Entry& entry : entries) {
    for (const int n : {entry.threads - 1, entry.threads}) {
      if (n >= 1 && n < threads) out.insert(n);
    }
  }
  return out;
}

// The best that `threads` threads or fewer were seen to do.
template <class Entry, class Find, class Rate>
std::optional<Entry> best_of(const std::vector<Entry>& entries, const Find& find, Rate rate,
                             int threads) {
  std::optional<Entry> best = find(threads);
  if (!best) return best;
  for (const int fewer : counts_below(entries, threads)) {
    const auto other = find(fewer);
    if (other && (*other).*rate > (*best).*rate) best = other;
  }
  return best;
}

// An upper end belongs to a figure of the whole device: it was not scaled to a thread count.
template <class Entry, class Rate, class High>
double upper_end(const Entry& entry, Rate rate, High high) {
  const double stated = entry.*rate;
  return entry.threads == 0 ? std::max(stated, (entry.*high).value_or(0)) : stated;
}

}  // namespace

Ceilings::Ceilings(const Device& device, int threads, int shards,
                   std::optional<double> network_bytes_per_s) {
  add_peaks(device, threads, 1, alone);
  add_levels(device, threads, 1, alone);
  if (shards > 1) {
    kinds_ = 2;
    add_peaks(device, threads, shards, shared);
    add_levels(device, threads, shards, shared);
  }
  add_links(device, network_bytes_per_s);
}

Ceilings::Rate Ceilings::add(Ceiling ceiling) {
  const Rate out{ceiling.per_s, as_int(ceilings_.size())};
  ceilings_.push_back(std::move(ceiling));
  return out;
}

void Ceilings::add_peaks(const Device& device, int threads, int shards, std::size_t at) {
  std::set<Dtype> dtypes{Dtype::f4_e2m1};
  for (const Peak& peak : device.peaks) dtypes.insert(peak.dtype);
  for (const Dtype dtype : dtypes) {
    const Dtype multiplied = multiplying_dtype(device, dtype);
    const auto find = [&](int n) { return device.peak(multiplied, n); };
    const auto peak = best_of(device.peaks, find, &Peak::flops_per_s, threads * shards);
    if (!peak || peak->flops_per_s <= 0) continue;
    const std::string path = peak->path.empty() ? std::string(dtype_name(multiplied)) : peak->path;
    const double flops_per_s = upper_end(*peak, &Peak::flops_per_s, &Peak::flops_per_s_high);
    peaks_[as_size(dtype)][at] = add(
        {named(path, peak->threads, shards), flops_per_s / shards, Level::compute, peak->source});
  }
}

void Ceilings::add_levels(const Device& device, int threads, int shards, std::size_t at) {
  double capacity = 0;
  level_count_ = 0;
  for (const auto& [name, level] : cache_levels) {
    const auto find = [&, name = name](int n) { return device.bandwidth(name, n); };
    const auto own = find(threads);
    const auto best = best_of(device.bandwidths, find, &Bandwidth::bytes_per_s, threads * shards);
    if (!best || best->bytes_per_s <= 0) continue;
    const double bytes_per_s =
        upper_end(*best, &Bandwidth::bytes_per_s, &Bandwidth::bytes_per_s_high);
    CacheLevel& entry = levels_[level_count_++];
    entry.level = level;
    entry.nearer_bytes = capacity;
    entry.rates[at] =
        add({named(name, best->threads, shards), bytes_per_s / shards, level, best->source});
    has_caches_ = has_caches_ || level != Level::memory;
    capacity += 2.0 * as_double(own->working_set_bytes);
  }
}

void Ceilings::add_links(const Device& device, std::optional<double> network_bytes_per_s) {
  links_ = Links(device, network_bytes_per_s);
  const double network = network_bytes_per_s.value_or(0);
  if (links_.link_bytes_per_s_max) {
    const double link = *links_.link_bytes_per_s_max;
    link_ = add({"link " + links_.name, link, Level::link, links_.source});
    both_ = add({"link " + links_.name + " and network", link + network, Level::link,
                 links_.source + "; stated"});
  }
  if (network > 0) network_ = add({"network", network, Level::link, "stated"});
}

const Ceilings::Rate& Ceilings::rate_over(Passage::Over over) const {
  if (over == Passage::Over::link) return link_;
  return over == Passage::Over::network ? network_ : both_;
}

Bound Ceilings::bound(const Work& work, const Traffic& traffic, std::int64_t ranks) const {
  Bound out;
  const auto add = [&out](double amount, Level level, const Rate& rate) {
    if (amount > 0 && rate.per_s > 0) out.add({amount, rate.per_s, level, rate.source});
  };
  const double ring_set = traffic.ring_bytes + traffic.warm_bytes;
  for (std::size_t at = alone; at < kinds_; ++at) {
    add(work.matmul_flops, Level::compute, peaks_[as_size(work.compute_dtype)][at]);
    for (const auto i : indices(level_count_)) {
      const CacheLevel& level = levels_[i];
      const bool is_nearest = i == 0 && has_caches_;
      const double warm =
          is_nearest     ? traffic.warm_bytes
          : !has_caches_ ? 0
                         : beyond(traffic.warm_bytes, traffic.warm_set_bytes, level.nearer_bytes);
      add(beyond(traffic.constant_bytes, ring_set, level.nearer_bytes) + warm, level.level,
          level.rates[at]);
    }
  }
  if (work.transfer_bytes > 0) {
    out.set_collective();
    for (const Passage& passage : links_.least(work, ranks)) {
      add(passage.bytes, Level::link, rate_over(passage.over));
    }
  }
  return out;
}

Bound case_bound(const Work& work, const KernelCase& kernel_case, const Ceilings& ceilings) {
  return ceilings.bound(work, traffic(work, kernel_case.mode, kernel_case.sets),
                        kernel_case.problem.params.value_or("ranks", 1));
}

Bound step_bound(const Problem& problem, const Work& work, const Ceilings& ceilings) {
  // Reading a parameter costs more than the bound, and few problems have ranks.
  const std::int64_t ranks = work.transfer_bytes > 0 ? problem.params.value_or("ranks", 1) : 1;
  return ceilings.bound(work, step_traffic(work), ranks);
}

}  // namespace halmark::roofline
