#include "history/statistics/machine_effect.hpp"

#include <algorithm>
#include <cmath>

namespace halmark::history {
namespace {

constexpr double same_regime = 0.1;  // in logarithms
constexpr int moves_min = 5;
constexpr double share_max = 1.2;
constexpr int steps_to_centre = 4;  // from a probe at the edge of a regime, as medians move

struct Slope {
  double value, weight;
};

// The slope through zero with the least sum of |dy - slope dx|: the median of slopes, each weighed
// by its |dx|.
double weighted_median(std::vector<Slope>& slopes) {
  std::ranges::sort(slopes, {}, &Slope::value);
  double total = 0, seen = 0;
  for (const Slope& slope : slopes) total += slope.weight;
  for (const Slope& slope : slopes) {
    seen += slope.weight;
    if (seen >= total / 2) return slope.value;
  }
  return 0;
}

}  // namespace

std::vector<std::optional<double>> regimes_of(std::span<const SeriesRow> rows) {
  std::vector<double> known;
  for (const SeriesRow& row : rows) {
    if (row.is_usable() && row.state.bytes_per_s) known.push_back(std::log(*row.state.bytes_per_s));
  }
  std::ranges::sort(known);
  std::vector<std::optional<double>> out;
  for (const SeriesRow& row : rows) {
    out.emplace_back();
    if (!row.is_usable() || !row.state.bytes_per_s) continue;
    double centre = std::log(*row.state.bytes_per_s);
    for (int step = 0; step < steps_to_centre; ++step) {
      const auto low = std::ranges::lower_bound(known, centre - same_regime);
      const auto high = std::ranges::upper_bound(known, centre + same_regime);
      centre = *(low + (high - low - 1) / 2);
    }
    out.back() = centre;
  }
  return out;
}

MachineEffect machine_effect(std::span<const SeriesRow> rows) {
  const std::vector<std::optional<double>> regimes = regimes_of(rows);
  std::vector<Slope> slopes;
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!regimes[i]) continue;
    if (last) {
      const double dx = *regimes[i] - *regimes[*last];
      const double dy = std::log(rows[i].ns / rows[*last].ns);
      if (std::abs(dx) > same_regime) slopes.push_back({-dy / dx, std::abs(dx)});
    }
    last = i;
  }
  MachineEffect out{.moves = static_cast<int>(slopes.size())};
  if (out.moves >= moves_min) {
    out.memory_share = std::clamp(weighted_median(slopes), 0.0, share_max);
  }
  return out;
}

}  // namespace halmark::history
