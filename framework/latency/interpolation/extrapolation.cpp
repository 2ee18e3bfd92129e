#include "latency/interpolation/extrapolation.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "latency/interpolation/conformal.hpp"

namespace halmark {

namespace {

constexpr std::size_t held_out_octaves = 3;  // of each end, where half of the known sizes remain
constexpr std::size_t held_out_max = 400;

// What is far outside has the neighbours of the nearest known coordinates.
std::vector<double> clamped(std::span<const double> at, const LocalKriging& known) {
  std::vector<double> out(at.begin(), at.end());
  for (const auto d : indices(out)) {
    out[d] = std::clamp(out[d], known.low(d), known.high(d));
  }
  return out;
}

}  // namespace

std::vector<EfficiencyCurve::Sample> Extrapolation::samples(std::span<const Point> points) {
  std::vector<EfficiencyCurve::Sample> out;
  out.reserve(points.size());
  for (const Point& p : points) out.push_back({p.times, p.ns});
  return out;
}

LocalKriging Extrapolation::moved(std::span<const Point> points, const EfficiencyCurve& curve) {
  std::vector<LocalKriging::Point> out;
  out.reserve(points.size());
  for (const Point& p : points) out.push_back({p.at, std::log(p.ns / curve.ns(p.times))});
  return LocalKriging(std::move(out));
}

Extrapolation::Extrapolation(std::vector<Point> points, std::vector<double> lengths,
                             CurveSolver solver)
    : points_(std::move(points)),
      lengths_(std::move(lengths)),
      solver_(std::move(solver)),
      curve_(samples(points_), solver_),
      residuals_(moved(points_, curve_)) {}

std::vector<double> Extrapolation::beyond(std::span<const double> at, const LocalKriging& known,
                                          std::span<const double> lengths) {
  std::vector<double> out(at.size());
  for (const auto d : indices(at)) {
    const double octaves = std::max(known.low(d) - at[d], at[d] - known.high(d)) * lengths[d];
    if (octaves > octave_rounding) out[d] = octaves;
  }
  return out;
}

std::vector<Extrapolation::Check> Extrapolation::held_out(std::size_t coordinate, End end) const {
  const double low = residuals_.low(coordinate), high = residuals_.high(coordinate);
  const double octaves =
      std::min(as_double(held_out_octaves), (high - low) * lengths_[coordinate] / 2);
  std::vector<Check> out;
  if (octaves < 1) return out;
  const double step = octaves / lengths_[coordinate] - octave_rounding;
  const double border = end == End::high ? high - step : low + step;
  std::vector<Point> inner;
  double inner_end = end == End::high ? low : high;
  for (const auto i : indices(points_)) {
    const double at = points_[i].at[coordinate];
    const bool is_inner = end == End::high ? at < border : at > border;
    if (!is_inner) {
      out.push_back({.point = i});
      continue;
    }
    inner.push_back(points_[i]);
    inner_end = end == End::high ? std::max(inner_end, at) : std::min(inner_end, at);
  }
  if (inner.size() < EfficiencyCurve::samples_min) return {};
  const EfficiencyCurve curve(samples(inner), solver_);
  const LocalKriging known = moved(inner, curve);
  const auto chosen = spread(out.size(), held_out_max, [](std::size_t) { return true; });
  std::vector<Check> checks;
  for (const std::size_t i : chosen) {
    Check check = out[i];
    const Point& point = points_[check.point];
    const auto residual = known.at(clamped(point.at, known));
    if (!residual) continue;
    check.octaves = std::abs(point.at[coordinate] - inner_end) * lengths_[coordinate];
    check.ns = curve.ns(point.times) * std::exp(residual->value);
    checks.push_back(check);
  }
  return checks;
}

const Extrapolation::Calibration& Extrapolation::calibration(std::size_t coordinate,
                                                             End end) const {
  const auto [it, is_new] = calibrations_.try_emplace({coordinate, end});
  Calibration& out = it->second;
  if (!is_new) return out;
  const std::vector<Check> checks = held_out(coordinate, end);
  // The farther out, the wider: each width holds what is nearer, too. An octave with few points
  // is judged by the next one as well.
  std::vector<double> errors;
  for (std::size_t octaves = 1; octaves <= held_out_octaves; ++octaves) {
    const auto end_at = as_double(octaves);
    for (const Check& c : checks) {
      if (c.octaves > end_at - 1 + octave_rounding && c.octaves <= end_at + octave_rounding) {
        errors.push_back(std::abs(std::log(c.ns / points_[c.point].ns)));
      }
    }
    if (errors.size() < residuals_min) continue;
    const double width = conformal_quantile(std::move(errors), conformal_coverage);
    out.widths.resize(octaves, out.widths.empty() ? width : std::max(width, out.widths.back()));
    errors = {};
  }
  return out;
}

std::optional<Extrapolation::Figure> Extrapolation::at(std::span<const double> at,
                                                       const ResourceTimes& times) const {
  const auto residual = residuals_.at(clamped(at, residuals_));
  if (!residual) return std::nullopt;
  Figure out{.ns = curve_.ns(times) * std::exp(residual->value), .is_calibrated = true};
  const std::vector<double> octaves = beyond(at, residuals_, lengths_);
  double half = 0;
  int ends = 0;
  for (const auto d : indices(octaves)) {
    if (octaves[d] <= 0) continue;
    ++ends;
    const End end = at[d] > residuals_.high(d) ? End::high : End::low;
    const Calibration& known = calibration(d, end);
    const auto reach = as_double(known.widths.size());
    if (octaves[d] > reach + octave_rounding) out.is_calibrated = false;
    if (known.widths.empty()) {
      // Nothing was held out: a factor of two per octave.
      half += octaves[d] * std::log(2.0);
      continue;
    }
    const auto bin = as_size(std::ceil(octaves[d] - octave_rounding)) - 1;
    const double width = known.widths[std::min(bin, known.widths.size() - 1)];
    half += width * std::max(1.0, octaves[d] / reach);
  }
  // What was held out lay beyond one end, not beyond a corner.
  if (ends > 1) out.is_calibrated = false;
  out.low_ns = out.ns * std::exp(-half);
  out.high_ns = out.ns * std::exp(half);
  return out;
}

}  // namespace halmark
