#include "power_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text/error.hpp"
#include "search/surrogate/minimise.hpp"

namespace halmark::power {
namespace {

constexpr std::size_t points_min = 12;
constexpr double residual_scale = 0.05;

PowerModel model_at(std::span<const double> x, double limit_w) {
  return {.idle_w = x[0] * limit_w,
          .limit_w = limit_w,
          .compute_w = x[1] * limit_w,
          .compute_exponent = x[2],
          .memory_w = x[3] * limit_w,
          .memory_exponent = x[4],
          .gap_s = std::exp(x[5]) * 1e-6,
          .is_fitted = true};
}

double loss(const PowerModel& model, std::span<const PowerPoint> points) {
  double sum = 0;
  for (const PowerPoint& p : points) {
    const double z = std::log(power_w(model, p.activity, p.seconds) / p.watts) / residual_scale;
    sum += std::sqrt(1 + z * z) - 1;  // Charbonnier et al., 1997
  }
  return sum / static_cast<double>(points.size());
}

}  // namespace

PowerModel fit_power(std::span<const PowerPoint> points, double limit_w) {
  if (points.size() < points_min) {
    throw refused("a power model needs " + std::to_string(points_min) + " measured points, not " +
                  std::to_string(points.size()));
  }
  const auto is_sound = [](const PowerPoint& p) { return p.watts > 0 && p.seconds > 0; };
  if (!std::ranges::all_of(points, is_sound)) {
    throw refused("a measured power and its time are above 0");
  }
  constexpr std::array low = {0.02, 0.02, 0.25, 0.02, 0.25, -1.0};
  constexpr std::array high = {0.6, 2.5, 1.3, 2.5, 1.3, 4.5};
  constexpr std::array start = {0.2, 0.8, 0.8, 0.6, 0.8, 2.0};
  const auto objective = [&](std::span<const double> x) {
    return loss(model_at(x, limit_w), points);
  };
  return model_at(minimise(objective, low, high, start, {.evaluations_max = 3000, .starts = 3}).at,
                  limit_w);
}

}  // namespace halmark::power
