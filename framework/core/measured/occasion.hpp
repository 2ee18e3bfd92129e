// A ceiling as a distribution over time: what each occasion saw of it, and the best of all. A
// machine that other guests share is slower for minutes, so one occasion is no ceiling.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields/fields.hpp"

namespace halmark {

// Probes of one figure within ten minutes.
struct Occasion {
  std::string utc;              // of its first probe, "2026-11-22T15:04:05Z"; "" = not recorded
  std::int64_t probes = 0;      // how many there were
  double median = 0;            // of all its probes
  std::vector<double> highest;  // descending, three at most: no more can decide the best
  bool is_busy = false;         // other work took the CPUs of all its probes
  bool operator==(const Occasion&) const = default;
};
template <class V, Of<Occasion> M>
void fields(V& v, M& m) {
  v.unless_default("utc", m.utc);
  v("probes", m.probes);
  v("median", m.median);
  v("highest", m.highest);
  v("busy", m.is_busy);
}

inline constexpr std::int64_t occasion_gap_s = 600;
// A probe whose threads had less of their time on a CPU was beside other work.
inline constexpr double busy_cpu_share = 0.95;
inline constexpr std::size_t occasions_max = 32;

// Seconds since 1970 of "2026-11-22T15:04:05Z"; nothing for any other text.
std::optional<std::int64_t> utc_seconds(std::string_view utc);

// Adds probes at `utc`: to the last occasion where that began less than ten minutes before and was
// as busy, as a new one otherwise. Beyond occasions_max the oldest that holds none of the three
// highest probes goes. Rates that are not above 0 do not count.
void observe(std::vector<Occasion>& occasions, std::string_view utc, std::span<const double> rates,
             bool is_busy = false);
// The same with what another process kept of an occasion.
void observe(std::vector<Occasion>& occasions, const Occasion& seen);

struct BestRate {
  double per_s = 0;  // 0 = no probe
  // Of one occasion only, busy ones not counted, or of fewer than three probes: the highest then,
  // which a lucky probe may be. Otherwise the third-highest of all. So a busy occasion can raise a
  // figure and lower none.
  bool is_provisional = true;
  std::int64_t probes = 0;
  bool is_busy = false;  // all occasions were
};
BestRate best_rate(std::span<const Occasion> occasions);

}  // namespace halmark
