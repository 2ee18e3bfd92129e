#include "latency/interpolation/interpolation_family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "latency/interpolation/conformal.hpp"

namespace halmark {

namespace {

constexpr std::size_t calibration_max = 1500;  // predictions per family and question
// Distances at which known points are predicted without anything nearer, beside their own nearest.
constexpr double far_distances[] = {1, 2};
constexpr std::size_t bin_min = 60;  // residuals: fewer make no stable 90 % quantile
// Fewer points or shapes than this all calibrate: a third of them would say nothing.
constexpr std::size_t points_to_split = 120, shapes_to_split = 12;

// What is tried: how points of other shapes count, how far along a line, how much is noise.
constexpr LocalKriging::Reach reaches[] = {
    {},           {.others = 0.5}, {.others = 0.25}, {.others = 2},
    {.first = 2}, {.first = 0.5},  {.nugget = 0.1}};
constexpr std::size_t reach_trials = 250;
// Left-out points that tell which method is the better one.
constexpr std::size_t step_min = 100;

bool is_third(std::size_t index) { return scattered(index) % 3 == 0; }

}  // namespace

std::vector<LocalKriging::Point> InterpolationFamily::utilisations(std::span<const Point> points,
                                                                   double launch_ns) {
  std::vector<LocalKriging::Point> out;
  out.reserve(points.size());
  for (const Point& p : points) {
    out.push_back({p.at, std::log(p.ns / (launch_ns + p.estimate_ns)), p.shape});
  }
  return out;
}

std::vector<LineInterpolation::Point> InterpolationFamily::lines(std::span<const Point> points) {
  std::vector<LineInterpolation::Point> out;
  out.reserve(points.size());
  for (const Point& p : points) out.push_back({p.line, p.size, p.ns});
  return out;
}

InterpolationFamily::InterpolationFamily(std::span<const Point> points, double launch_ns,
                                         const std::optional<StatedErrors>& stated)
    : points_(points),
      launch_ns_(launch_ns),
      lines_(lines(points)),
      known_{LocalKriging({})},
      unseen_{LocalKriging({})},
      stated_(stated) {
  if (stated) {
    known_.kriging = LocalKriging(utilisations(points_, launch_ns_));
    return;
  }
  for (const Point& p : points) {
    shapes_ = std::max(shapes_, as_size(p.shape) + 1);
  }
  const bool splits_points = points.size() >= points_to_split;
  const bool splits_shapes = shapes_ >= shapes_to_split;
  const auto calibrates = [&](std::size_t i) { return !splits_points || is_third(i); };
  const auto by_shape = [&](std::size_t i) {
    return splits_shapes ? is_third(as_size(points[i].shape)) : calibrates(i);
  };
  const auto chosen = spread(points.size(), calibration_max, calibrates);
  const auto of_chosen_shapes = spread(points.size(), calibration_max, by_shape);
  known_.kriging = reaching(chosen, false);
  unseen_.kriging = reaching(of_chosen_shapes, true);
  choose_methods(chosen);
  known_.calibration = of_points(chosen);
  unseen_.calibration = of_shapes(of_chosen_shapes);
}

// The shortest mean error in logarithms, so that the tails count too.
LocalKriging InterpolationFamily::reaching(std::span<const std::size_t> chosen,
                                           bool leaves_shapes) const {
  const auto some = chosen.first(std::min(chosen.size(), reach_trials));
  std::optional<LocalKriging> best;
  double least = std::numeric_limits<double>::infinity();
  for (const LocalKriging::Reach& reach : reaches) {
    LocalKriging kriging(utilisations(points_, launch_ns_), reach);
    double sum = 0;
    for (const std::size_t i : some) {
      const LocalKriging::Point& known = kriging.points()[i];
      LocalKriging::LeftOut left_out{.point = i};
      if (leaves_shapes) left_out.shape = known.shape;
      const auto predicted = kriging.at(known.at, left_out);
      if (predicted) sum += std::abs(predicted->value - known.value);
    }
    if (best && sum >= least) continue;
    least = sum;
    best = std::move(kriging);
  }
  return *std::move(best);
}

std::optional<InterpolationFamily::Logarithm> InterpolationFamily::log_at(
    const Question& question, const Place& place, const LeftOut& left_out) const {
  const auto kriged = question.kriging.at(
      place.at,
      {.point = left_out.point, .shape = left_out.shape, .nearer_than = left_out.nearer_than});
  if (!kriged) return std::nullopt;
  Logarithm out{std::log(launch_ns_ + place.estimate_ns) + kriged->value, kriged->deviation,
                kriged->distance};
  const bool has_line = place.line && !left_out.shape && left_out.nearer_than <= 0;
  if (question.steps.empty() || !has_line) return out;
  const auto line = lines_.at(*place.line, place.size, left_out.point);
  if (!line) return out;
  const Method method = method_at(question.steps, line->octaves);
  if (method == Method::line) out.log_ns = std::log(line->ns);
  if (method == Method::mean) out.log_ns = (out.log_ns + std::log(line->ns)) / 2;
  return out;
}

double InterpolationFamily::Trial::of(Method method) const {
  return method == Method::line ? line : method == Method::kriging ? kriging : mean;
}

InterpolationFamily::Method InterpolationFamily::method_at(std::span<const Step> steps,
                                                           double octaves) {
  const auto* step = find_or_null(steps, true, [&](const Step& s) { return octaves <= s.octaves; });
  return !step ? steps.back().method : step->method;
}

InterpolationFamily::Score InterpolationFamily::score(std::span<const Trial> trials,
                                                      std::span<const Step> steps) {
  std::vector<double> errors =
      mapped(trials, [&](const Trial& trial) { return trial.of(method_at(steps, trial.octaves)); });
  return {conformal_quantile(errors, 0.5), conformal_quantile(errors, 0.9)};
}

// Of one method for all, what is behind the straight line neither in the median nor in the tail of
// its errors; of several what has the smaller product of both.
InterpolationFamily::Method InterpolationFamily::better_method(std::span<const Trial> trials) {
  const auto of = [&](Method method) { return score(trials, std::array{Step{0, method}}); };
  const Score line = of(Method::line);
  Method best = Method::line;
  double least = line.product();
  for (const Method method : {Method::kriging, Method::mean}) {
    const Score other = of(method);
    if (other.is_behind(line) || other.product() >= least) continue;
    best = method;
    least = other.product();
  }
  return best;
}

void InterpolationFamily::choose_methods(std::span<const std::size_t> chosen) {
  std::vector<Trial> trials;
  for (const std::size_t i : chosen) {
    const Place place = place_of(i);
    const auto kriged = log_at(known_, place, {.point = i});
    const auto line = lines_.at(*place.line, place.size, i);
    // Ends of lines are kriged whatever the method.
    if (!kriged || !line) continue;
    const double truth = std::log(points_[i].ns), linear = std::log(line->ns);
    trials.push_back({line->octaves, std::abs(linear - truth), std::abs(kriged->log_ns - truth),
                      std::abs((kriged->log_ns + linear) / 2 - truth)});
  }
  if (trials.size() < residuals_min) return;
  std::ranges::sort(trials, {}, &Trial::octaves);
  known_.steps = {{trials.back().octaves, better_method(trials)}};
  std::vector<Step> steps;
  for (std::size_t begin = 0; begin < trials.size();) {
    std::size_t end = std::min(trials.size(), begin + std::max(step_min, trials.size() / 4));
    while (end < trials.size() && trials[end].octaves == trials[end - 1].octaves) ++end;
    if (trials.size() - end < step_min) end = trials.size();
    steps.push_back(
        {trials[end - 1].octaves, better_method(std::span(trials).subspan(begin, end - begin))});
    begin = end;
  }
  // Several methods have to be clearly better than one as a whole, else they follow the noise.
  constexpr double clearly = 0.95;
  const Score one = score(trials, known_.steps), several = score(trials, steps);
  if (several.is_behind(one) || several.product() > clearly * one.product()) return;
  known_.steps = std::move(steps);
}

void InterpolationFamily::add_residual(const Question& question, std::size_t point,
                                       const LeftOut& left_out, std::vector<Residual>& to) const {
  const auto predicted = log_at(question, place_of(point), left_out);
  if (!predicted || predicted->deviation <= 0) return;
  const double error = std::abs(predicted->log_ns - std::log(points_[point].ns));
  to.push_back({predicted->distance, error / predicted->deviation});
}

InterpolationFamily::Calibration InterpolationFamily::of_points(
    std::span<const std::size_t> chosen) const {
  std::vector<Residual> residuals;
  for (const auto c : indices(chosen)) {
    add_residual(known_, chosen[c], {.point = chosen[c]}, residuals);
    if (c % 4 != 0) continue;
    for (const double distance : far_distances) {
      add_residual(known_, chosen[c], {.point = chosen[c], .nearer_than = distance}, residuals);
    }
  }
  return calibration(std::move(residuals));
}

// What a new model asks for: a shape of which nothing is known.
InterpolationFamily::Calibration InterpolationFamily::of_shapes(
    std::span<const std::size_t> chosen) const {
  std::vector<Residual> residuals;
  for (const std::size_t i : chosen) {
    add_residual(unseen_, i, {.point = i, .shape = points_[i].shape}, residuals);
  }
  return calibration(std::move(residuals));
}

InterpolationFamily::Calibration InterpolationFamily::calibration(std::vector<Residual> residuals) {
  std::ranges::sort(residuals, {}, &Residual::distance);
  Calibration out;
  out.residuals = residuals.size();
  for (std::size_t begin = 0; begin < residuals.size();) {
    // Equal distances stay together: grids have few different ones.
    std::size_t end = std::min(residuals.size(), begin + std::max(bin_min, residuals.size() / 8));
    while (end < residuals.size() && residuals[end].distance == residuals[end - 1].distance) ++end;
    if (residuals.size() - end < bin_min) end = residuals.size();
    std::vector<double> ratios;
    for (std::size_t i = begin; i < end; ++i) ratios.push_back(residuals[i].ratio);
    out.distances.push_back(residuals[end - 1].distance);
    out.factors.push_back(conformal_quantile(std::move(ratios), conformal_coverage));
    begin = end;
  }
  return out;
}

std::optional<InterpolationFamily::Figure> InterpolationFamily::at(const Place& place,
                                                                   const LeftOut& left_out) const {
  const bool is_shape_known = place.shape && left_out.shape != place.shape;
  if (stated_) return stated_at(place, left_out);
  const Question& question = is_shape_known ? known_ : unseen_;
  const auto predicted = log_at(question, place, left_out);
  if (!predicted) return std::nullopt;
  Figure out{.ns = std::exp(predicted->log_ns), .is_shape_known = is_shape_known};
  const Calibration& bins = question.calibration;
  // Without any residual two standard deviations stand in, and no share is claimed.
  double factor = 2;
  if (!bins.factors.empty()) {
    const auto bin = std::ranges::lower_bound(bins.distances, predicted->distance);
    const auto index = as_size(bin - bins.distances.begin());
    factor = bins.factors[std::min(index, bins.factors.size() - 1)];
  }
  out.is_calibrated = bins.residuals >= residuals_min;
  const double half = factor * predicted->deviation;
  out.low_ns = out.ns * std::exp(-half);
  out.high_ns = out.ns * std::exp(half);
  return out;
}

// Farther than a length from what is known errors grow as the distance, and by octaves beyond it.
std::optional<InterpolationFamily::Figure> InterpolationFamily::stated_at(
    const Place& place, const LeftOut& left_out) const {
  const auto predicted = known_.kriging.at(
      place.at,
      {.point = left_out.point, .shape = left_out.shape, .nearer_than = left_out.nearer_than});
  if (!predicted) return std::nullopt;
  const bool is_shape_known = place.shape && left_out.shape != place.shape;
  const auto& ratios = is_shape_known ? stated_->of_points : stated_->of_shapes;
  const double wider = std::max(1.0, predicted->distance) + place.beyond_octaves;
  Figure out{.ns = std::exp(predicted->value) * (launch_ns_ + place.estimate_ns),
             .is_calibrated = wider == 1,
             .is_shape_known = is_shape_known};
  out.low_ns = out.ns * std::pow(std::min(1.0, ratios.low), wider);
  out.high_ns = out.ns * std::pow(std::max(1.0, ratios.high), wider);
  return out;
}

std::string InterpolationFamily::method() const {
  const auto name = [](Method method) {
    return method == Method::kriging ? "kriging"
           : method == Method::line  ? "linear in size"
                                     : "mean of kriging and linear in size";
  };
  if (known_.steps.empty()) return name(Method::kriging);
  std::string out;
  for (const auto s : indices(known_.steps)) {
    const auto& [octaves, method] = known_.steps[s];
    const bool is_last = s + 1 == known_.steps.size();
    if (!is_last && known_.steps[s + 1].method == method) continue;
    append_item(out, ", ", name(method));
    if (!is_last) out += fmt::format(" up to {:.2f} octaves", octaves);
  }
  return out;
}

InterpolationFamily::Place InterpolationFamily::place_of(std::size_t point) const {
  const Point& p = points_[point];
  return {p.at, p.size, p.estimate_ns, p.shape, p.line};
}

std::vector<std::size_t> InterpolationFamily::unused_points(std::size_t count) const {
  const bool splits = points_.size() >= points_to_split;
  return spread(points_.size(), count, [&](std::size_t i) { return !splits || !is_third(i); });
}

std::vector<std::size_t> InterpolationFamily::unused_shapes(std::size_t count) const {
  if (shapes_ < shapes_to_split) return unused_points(count);
  return spread(points_.size(), count,
                [&](std::size_t i) { return !is_third(as_size(points_[i].shape)); });
}

}  // namespace halmark
