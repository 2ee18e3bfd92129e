#include "core/device.hpp"

#include <algorithm>
#include <cctype>

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

// "H100-SXM" and "h100 sxm" are one name.
std::string squeezed(std::string_view text) {
  std::string out;
  for (const unsigned char c : text) {
    if (std::isalnum(c) != 0) out += static_cast<char>(std::tolower(c));
  }
  return out;
}

}  // namespace

std::string_view confidence_name(Confidence confidence) {
  switch (confidence) {
    case Confidence::unstated:
      return "";
    case Confidence::low:
      return "low";
    case Confidence::medium:
      return "medium";
    case Confidence::high:
      return "high";
  }
  return "";
}

bool Peak::is_general() const { return !path.ends_with("_fp16acc") && !path.ends_with("_dla"); }

bool Device::is_called(std::string_view text) const {
  const std::string wanted = squeezed(text);
  return !wanted.empty() &&
         (squeezed(id) == wanted || std::ranges::any_of(aliases, [&](const std::string& alias) {
            return squeezed(alias) == wanted;
          }));
}

std::optional<Peak> Device::peak(Dtype compute_dtype, int threads) const {
  std::vector<Peak> candidates;
  std::ranges::copy_if(peaks, std::back_inserter(candidates),
                       [&](const Peak& p) { return p.dtype == compute_dtype && p.is_general(); });
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
