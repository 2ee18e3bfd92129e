#include "core/device.hpp"

#include <algorithm>

namespace halmark {
namespace {

// An entry measured with exactly `threads`, else the largest count below it scaled up, else one
// that was measured with more threads scaled down. threads = 0 in an entry means the whole device.
template <class Entry, class Rate>
std::optional<Entry> at_threads(const std::vector<Entry>& entries, int threads, Rate rate) {
  const Entry* best = nullptr;
  const auto distance = [&](const Entry& e) {
    if (e.threads == threads) return 0;
    if (e.threads == 0 || threads == 0) return 1'000'000;
    return e.threads < threads ? threads - e.threads : 1000 + e.threads - threads;
  };
  for (const Entry& entry : entries) {
    if (best == nullptr || distance(entry) < distance(*best) ||
        (distance(entry) == distance(*best) && entry.*rate > (*best).*rate)) {
      best = &entry;
    }
  }
  if (best == nullptr) return std::nullopt;
  Entry out = *best;
  if (threads > 0 && out.threads > 0 && out.threads != threads) {
    out.*rate *= static_cast<double>(threads) / out.threads;
    out.threads = threads;
  }
  return out;
}

}  // namespace

std::optional<Peak> Device::peak(Dtype compute_dtype, int threads) const {
  std::vector<Peak> candidates;
  std::ranges::copy_if(peaks, std::back_inserter(candidates),
                       [&](const Peak& p) { return p.dtype == compute_dtype; });
  return at_threads(candidates, threads, &Peak::flops_per_s);
}

std::optional<Peak> Device::path_peak(Dtype compute_dtype, std::string_view isa,
                                      int threads) const {
  std::vector<Peak> candidates;
  std::ranges::copy_if(peaks, std::back_inserter(candidates),
                       [&](const Peak& p) { return p.dtype == compute_dtype && p.isa == isa; });
  return at_threads(candidates, threads, &Peak::flops_per_s);
}

std::optional<Bandwidth> Device::bandwidth(std::string_view level, int threads) const {
  std::vector<Bandwidth> candidates;
  std::ranges::copy_if(bandwidths, std::back_inserter(candidates),
                       [&](const Bandwidth& b) { return b.level == level; });
  return at_threads(candidates, threads, &Bandwidth::bytes_per_s);
}

}  // namespace halmark
