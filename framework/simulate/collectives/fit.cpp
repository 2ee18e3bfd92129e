#include "simulate/collectives/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "search/surrogate/minimise.hpp"

namespace halmark::simulate {
namespace {

constexpr std::size_t dimensions = CollectiveCurve::parameters;
using Vector = std::array<double, dimensions>;

// Times and costs per byte are searched as logarithms around what the points show.
struct Box {
  Vector low{}, high{}, start{};
};

Box box_of(Collective collective, CurveShape shape, std::span<const CollectivePoint> points) {
  double least_s = points[0].seconds, least_per_byte = 1e300;
  for (const CollectivePoint& p : points) {
    const double moved = p.bytes * bus_factor(collective, as_double(p.ranks));
    least_s = std::min(least_s, p.seconds);
    least_per_byte = std::min(least_per_byte, p.seconds / moved);
  }
  const double t = std::log(least_s), b = std::log(least_per_byte);
  Box box{.low = {t - 1, -0.3, b, t - 2.5, b - 1.5, -0.9},
          .high = {t + 1, 1.5, b + 6, t + 3, b + 1, 0.9},
          .start = {t, 0.4, b + 1.5, t + 1, b, 0.2}};
  if (shape == CurveShape::shared) box.low[5] = -0.5, box.high[5] = 3, box.start[5] = 1;
  if (shape == CurveShape::ramp) {
    box.low[2] = 0.05, box.high[2] = 0.95, box.start[2] = 0.5;
    box.low[3] = t - 6, box.high[3] = t + 4, box.start[3] = t;
  }
  return box;
}

CollectiveCurve curve_at(Collective collective, CurveShape shape, std::span<const double> x) {
  return {.collective = collective,
          .shape = shape,
          .base_s = std::exp(x[0]),
          .latency_exponent = x[1],
          .first_s_per_byte = shape == CurveShape::ramp ? x[2] : std::exp(x[2]),
          .second_s = std::exp(x[3]),
          .s_per_byte = std::exp(x[4]),
          .ranks_effect = x[5]};
}

double log_residual(const CollectiveCurve& curve, const CollectivePoint& p) {
  return std::log(p.seconds / curve.seconds(p.bytes, p.ranks));
}

// Squares near zero, lines far away (Charbonnier et al., 1997).
double loss(double residual, double scale) {
  const double z = residual / scale;
  return std::sqrt(1 + z * z) - 1;
}

double sum_of_losses(const CollectiveCurve& curve, std::span<const CollectivePoint> points,
                     double scale) {
  double sum = 0;
  std::int64_t ranks = 0;  // of points one after the other mostly the same
  std::optional<CurveOfRanks> at;
  for (const CollectivePoint& p : points) {
    if (std::exchange(ranks, p.ranks) != p.ranks) at.emplace(curve, p.ranks);
    sum += loss(std::log(p.seconds / at->seconds(p.bytes)), scale);
  }
  return sum;
}

CollectiveCurve fit_shape(Collective collective, CurveShape shape,
                          std::span<const CollectivePoint> points, const FitOptions& options) {
  const Box box = box_of(collective, shape, points);
  const auto objective = [&](std::span<const double> x) {
    return sum_of_losses(curve_at(collective, shape, x), points, options.residual_scale);
  };
  const Minimum minimum = minimise(objective, box.low, box.high, box.start,
                                   {.evaluations_max = options.evaluations_max,
                                    .relative_tolerance = 1e-5,
                                    .starts = options.starts});
  return curve_at(collective, shape, minimum.at);
}

// Where a protocol changes is a step of the loss: each place is tried, the others are searched.
CollectiveCurve fit_switched(Collective collective, std::span<const CollectivePoint> points,
                             const FitOptions& options) {
  const Box box = box_of(collective, CurveShape::switched, points);
  const auto without = [](const Vector& x) { return std::array{x[0], x[1], x[3], x[4], x[5]}; };
  const auto low = without(box.low), high = without(box.high), start = without(box.start);
  CollectiveCurve best;
  double least = 1e300;
  for (double part = 1 << 15; part <= 1 << 23; part *= std::sqrt(2.0)) {
    const auto with = [&](std::span<const double> x) {
      return curve_at(collective, CurveShape::switched,
                      Vector{x[0], x[1], std::log(part), x[2], x[3], x[4]});
    };
    const auto objective = [&](std::span<const double> x) {
      return sum_of_losses(with(x), points, options.residual_scale);
    };
    const Minimum minimum = minimise(
        objective, low, high, start,
        {.evaluations_max = options.evaluations_max / 2, .relative_tolerance = 1e-5, .starts = 1});
    if (minimum.value < least) {
      least = minimum.value;
      best = with(minimum.at);
    }
  }
  return best;
}

CollectiveCurve fit_any(Collective collective, CurveShape shape,
                        std::span<const CollectivePoint> points, const FitOptions& options) {
  return shape == CurveShape::switched ? fit_switched(collective, points, options)
                                       : fit_shape(collective, shape, points, options);
}

double mean_distance(const CollectiveCurve& curve, std::span<const CollectivePoint> points) {
  double sum = 0;
  for (const CollectivePoint& p : points) sum += std::abs(log_residual(curve, p));
  return sum / as_double(points.size());
}

// Distances of every third size in turn from a fit of the others.
std::vector<double> held_out(Collective collective, CurveShape shape,
                             std::span<const CollectivePoint> points, const std::set<double>& sizes,
                             FitOptions options) {
  constexpr std::size_t folds = 3;
  options.starts = std::max(1, options.starts / 3);
  std::vector<double> out;
  for (const auto fold : indices(folds)) {
    std::set<double> held;
    std::size_t at = 0;
    for (const double size : sizes) {
      if (at++ % folds == fold) held.insert(size);
    }
    std::vector<CollectivePoint> kept;
    std::ranges::copy_if(points, std::back_inserter(kept),
                         [&](const CollectivePoint& p) { return !held.contains(p.bytes); });
    const CollectiveCurve other = fit_any(collective, shape, kept, options);
    for (const CollectivePoint& p : points) {
      if (held.contains(p.bytes)) out.push_back(std::abs(log_residual(other, p)));
    }
  }
  return out;
}

void check_points(std::span<const CollectivePoint> points, const std::set<double>& sizes) {
  if (points.size() < 2 * dimensions || sizes.size() < 6) {
    throw refused("a curve of " + std::to_string(dimensions) + " parameters needs at least " +
                      std::to_string(2 * dimensions) + " points of 6 sizes, found " +
                      std::to_string(points.size()) + " of " + std::to_string(sizes.size()),
                  {}, "measure more sizes");
  }
  for (const CollectivePoint& p : points) {
    const bool is_fine = p.ranks > 1 && std::isfinite(p.bytes) && p.bytes > 0 &&
                         std::isfinite(p.seconds) && p.seconds > 0;
    if (!is_fine) throw refused("a measured point needs ranks > 1, bytes > 0 and seconds > 0");
  }
}

FabricLevels one_level(const CollectiveFit& fit, std::int64_t ranks) {
  return {.levels = {{.ranks = ranks,
                      .bytes_per_s = fit.link_bytes_per_s,
                      .in_switch_ranks_min = fit.adds_in_switch ? 1 : 0}}};
}

}  // namespace

double CollectiveFit::bound_s(double bytes, std::int64_t ranks) const {
  if (link_bytes_per_s <= 0) return 0;
  return collective_bound_s(curve.collective, bytes, one_level(*this, ranks));
}

double CollectiveFit::seconds(double bytes, std::int64_t ranks) const {
  return std::max(curve.seconds(bytes, ranks), bound_s(bytes, ranks));
}

Interval CollectiveFit::interval_s(double bytes, std::int64_t ranks) const {
  const double factor = std::exp(log_half_width), middle = seconds(bytes, ranks);
  return {.low = std::max(middle / factor, bound_s(bytes, ranks)), .high = middle * factor};
}

CollectiveFit fit_collective(Collective collective, std::span<const CollectivePoint> points,
                             const FitLink& link, const FitOptions& options) {
  std::set<double> sizes;
  for (const CollectivePoint& p : points) sizes.insert(p.bytes);
  check_points(points, sizes);
  CollectiveFit fit{.points = points.size(),
                    .link_bytes_per_s = link.bytes_per_s,
                    .adds_in_switch = link.adds_in_switch};
  double least = 1e300;
  for (const CurveShape shape : curve_shapes()) {
    const CollectiveCurve curve = fit_any(collective, shape, points, options);
    const double distance = mean_distance(curve, points);
    if (distance >= least) continue;
    least = distance;
    fit.curve = curve;
  }
  for (const CollectivePoint& p : points) {
    fit.mean_error +=
        std::abs(fit.seconds(p.bytes, p.ranks) / p.seconds - 1) / as_double(points.size());
  }
  const auto distances = held_out(collective, fit.curve.shape, points, sizes, options);
  fit.log_half_width = quantile(distances, 0.9);
  return fit;
}

}  // namespace halmark::simulate
