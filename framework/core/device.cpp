#include "core/device.hpp"

#include <algorithm>
#include <cctype>

#include "core/lists.hpp"
#include "core/text/enum_names.hpp"

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

// "measured 2026-11-22T15:04:05Z, read" -> the time in it.
std::string time_in(std::string_view source) {
  constexpr std::string_view before = "measured ";
  if (!source.starts_with(before)) return {};
  source.remove_prefix(before.size());
  const std::string_view utc = source.substr(0, source.find(','));
  return utc_seconds(utc) ? std::string(utc) : std::string();
}

template <class Ceiling>
void settle(Ceiling& ceiling, double Ceiling::*rate) {
  const BestRate best = best_rate(ceiling.occasions);
  ceiling.*rate = best.per_s;
  ceiling.is_provisional = best.is_provisional;
}

// A figure from before occasions were kept counts as one probe.
template <class Ceiling>
void begin_occasions(Ceiling& ceiling, double Ceiling::*rate) {
  if (!ceiling.occasions.empty() || ceiling.*rate <= 0) return;
  ceiling.occasions.push_back({.utc = time_in(ceiling.source),
                               .probes = 1,
                               .median = ceiling.*rate,
                               .highest = {ceiling.*rate}});
}

template <class Ceiling>
void add_seen(std::vector<Ceiling>& known, Ceiling seen, double Ceiling::*rate) {
  begin_occasions(seen, rate);
  auto* same =
      find_or_null(known, true, [&](const Ceiling& c) { return is_same_ceiling(c, seen); });
  if (!same) {
    known.push_back(std::move(seen));
    settle(known.back(), rate);
    return;
  }
  begin_occasions(*same, rate);
  for (const Occasion& occasion : seen.occasions) observe(same->occasions, occasion);
  same->source = seen.source;
  settle(*same, rate);
}

std::string name_of(const Peak& peak) {
  return peak.isa.empty() ? peak.path : peak.path + ' ' + peak.isa;
}

std::string name_of(const Bandwidth& bandwidth) {
  return bandwidth.level + (bandwidth.access.empty() ? "" : ' ' + bandwidth.access);
}

template <class Ceiling>
void settle_threads_of(std::vector<Ceiling>& ceilings, double Ceiling::*rate,
                       std::vector<std::string>& dropped) {
  const auto is_disturbed = [&](Ceiling& ceiling) {
    if (ceiling.threads < 2) return false;
    Ceiling of_one = ceiling;
    of_one.threads = 1;
    const auto one = std::ranges::find_if(
        ceilings, [&](const Ceiling& c) { return is_same_ceiling(c, of_one); });
    if (one == ceilings.end() || ceiling.*rate >= (*one).*rate) return false;
    if (!best_rate(ceiling.occasions).is_busy) {
      ceiling.*rate = (*one).*rate;
      return false;
    }
    dropped.push_back(name_of(ceiling) + " of " + std::to_string(ceiling.threads) +
                      " threads: slower than one thread, beside other work");
    return true;
  };
  std::vector<Ceiling> kept;
  for (Ceiling& ceiling : ceilings) {
    if (!is_disturbed(ceiling)) kept.push_back(ceiling);
  }
  ceilings = std::move(kept);
}

}  // namespace

bool is_same_ceiling(const Peak& a, const Peak& b) {
  return a.path == b.path && a.isa == b.isa && a.threads == b.threads;
}

bool is_same_ceiling(const Bandwidth& a, const Bandwidth& b) {
  return a.level == b.level && a.access == b.access && a.threads == b.threads;
}

void observe(Device& device, const Peak& seen) { add_seen(device.peaks, seen, &Peak::flops_per_s); }

void observe(Device& device, const Bandwidth& seen) {
  add_seen(device.bandwidths, seen, &Bandwidth::bytes_per_s);
}

void observe(Device& device, const Device& seen) {
  for (const Peak& peak : seen.peaks) observe(device, peak);
  for (const Bandwidth& bandwidth : seen.bandwidths) observe(device, bandwidth);
}

std::vector<std::string> settle_threads(Device& device) {
  std::vector<std::string> dropped;
  settle_threads_of(device.peaks, &Peak::flops_per_s, dropped);
  settle_threads_of(device.bandwidths, &Bandwidth::bytes_per_s, dropped);
  return dropped;
}

namespace {
constexpr auto confidences = enum_names<Confidence>("", "low", "medium", "high");
}
std::string_view confidence_name(Confidence confidence) { return confidences.of(confidence); }
std::optional<Confidence> parse_confidence(std::string_view name) {
  return name.empty() ? std::nullopt : confidences.parse(name);
}

bool Peak::is_general() const { return !path.ends_with("_fp16acc") && !path.ends_with("_dla"); }

// The name is one of its aliases.
bool Device::is_called(std::string_view text) const {
  const std::string wanted = squeezed(text);
  return !wanted.empty() && (squeezed(id) == wanted || squeezed(name) == wanted ||
                             std::ranges::any_of(aliases, [&](const std::string& alias) {
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
