#include "history/suspicion.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/numeric/statistics.hpp"
#include "history/statistics/change_points.hpp"

namespace halmark::history {
namespace {

constexpr double step_spread = 0.05;        // of changes of the code, in logarithms
constexpr double noise_min = 3e-3;          // of a night, however equal its nights were
constexpr double noise_of_few = 0.03;       // where there are too few nights to tell
constexpr std::size_t nights_of_noise = 5;  // that tell it

double log_bayes_factor(double step, double noise) {
  const double of_noise = noise * noise, of_both = of_noise + step_spread * step_spread;
  return 0.5 * std::log(of_noise / of_both) + step * step / 2 * (1 / of_noise - 1 / of_both);
}

}  // namespace

double suspicion_of(const SeriesHistory& series) {
  std::vector<double> levels;
  for (const Night& night : series.nights) levels.push_back(std::log(night.adjusted_ns));
  if (levels.size() < 2) return 0;
  const double last = levels.back();
  levels.pop_back();
  const double noise =
      levels.size() < nights_of_noise ? noise_of_few : std::max(noise_min, night_noise(levels));
  return std::max(log_bayes_factor(last - median(levels), noise),
                  log_bayes_factor(last - levels.back(), std::sqrt(2) * noise));
}

}  // namespace halmark::history
