#include "latency/interpolation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/contract.hpp"

namespace halmark {

namespace {

constexpr double coverage = 0.90;
constexpr std::size_t calibration_max = 1500;  // predictions per family
// Distances at which known points are predicted without anything nearer, beside their own nearest.
constexpr std::array<double, 2> far_distances = {1, 2};
constexpr std::size_t bin_min = 60;  // residuals: fewer make no stable 90 % quantile
constexpr double outside_max_octaves = 1;

struct Residual {
  double distance = 0;
  double ratio = 0;  // |error| / deviation
};

// ceil((n + 1) share): the finite-sample quantile of split conformal prediction (Lei et al. 2018).
double conformal_quantile(std::vector<double> values, double share) {
  const auto n = static_cast<double>(values.size());
  const auto rank =
      std::min(values.size() - 1, static_cast<std::size_t>(std::ceil((n + 1) * share)) - 1);
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(rank));
  return values[rank];
}

// Even spread over a family, whatever the order of its rows.
std::uint64_t scattered(std::size_t index) {
  std::uint64_t h = index * 0x9e3779b97f4a7c15u;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9u;
  return h ^ h >> 32;
}

std::vector<std::size_t> sample(std::size_t size, std::size_t count,
                                bool (*is_wanted)(std::size_t)) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < size; ++i) {
    if (is_wanted(i)) out.push_back(i);
  }
  std::ranges::sort(out, {}, scattered);
  if (out.size() > count) out.resize(count);
  return out;
}

}  // namespace

// A third calibrates, so that checks have points of their own.
bool Interpolation::is_for_calibration(std::size_t point) { return scattered(point) % 3 == 0; }

Interpolation::Calibration Interpolation::calibrated(const LocalKriging& kriging) {
  std::vector<Residual> residuals;
  const auto chosen = sample(kriging.points().size(), calibration_max, is_for_calibration);
  for (std::size_t c = 0; c < chosen.size(); ++c) {
    const LocalKriging::Point& known = kriging.points()[chosen[c]];
    const auto add = [&](LocalKriging::LeftOut left_out) {
      left_out.point = chosen[c];
      const auto predicted = kriging.at(known.at, left_out);
      if (!predicted || predicted->deviation <= 0) return;
      residuals.push_back(
          {predicted->distance, std::abs(predicted->value - known.value) / predicted->deviation});
    };
    add({});
    if (c % 4 == 0) {
      for (const double distance : far_distances) add({.nearer_than = distance});
    }
    // What a new model asks for: a shape of which nothing is known.
    if (c % 4 == 1) add({.shape = known.shape});
  }
  std::ranges::sort(residuals, {}, &Residual::distance);
  Calibration out;
  for (std::size_t begin = 0; begin < residuals.size();) {
    // Equal distances stay together: grids have few different ones.
    std::size_t end = std::min(residuals.size(), begin + std::max(bin_min, residuals.size() / 8));
    while (end < residuals.size() && residuals[end].distance == residuals[end - 1].distance) ++end;
    if (residuals.size() - end < bin_min) end = residuals.size();
    std::vector<double> ratios;
    for (std::size_t i = begin; i < end; ++i) ratios.push_back(residuals[i].ratio);
    out.distances.push_back(residuals[end - 1].distance);
    out.factors.push_back(conformal_quantile(std::move(ratios), coverage));
    begin = end;
  }
  return out;
}

Interpolation::Interpolation(std::span<const LatencyPoint> points, const Device& measured_on,
                             ShardShare share, const Device* target)
    : points_(points.begin(), points.end()),
      measured_on_(measured_on, share),
      target_(target != nullptr ? *target : measured_on, share),
      source_(measured_on.id) {
  struct Draft {
    std::vector<LocalKriging::Point> points;
    std::vector<double> estimates;
    std::vector<std::size_t> indices;
    std::map<std::string, std::int32_t> shapes;
    InterpolationPlace last;
    double launch_ns = std::numeric_limits<double>::infinity();
  };
  std::map<std::string, Draft> drafts;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const LatencyPoint& point = points_[i];
    const OpContract* contract = find_contract(point.problem.op);
    auto place = interpolation_place(point.problem);
    const auto estimate_ns = contract == nullptr
                                 ? std::nullopt
                                 : measured_on_.local_ns(contract->work(point.problem.params));
    if (!place || !estimate_ns || point.ns <= 0) {
      ++left_out_;
      continue;
    }
    Draft& draft = drafts[place->group];
    const auto shape =
        draft.shapes.try_emplace(place->shape, static_cast<std::int32_t>(draft.shapes.size()))
            .first->second;
    draft.points.push_back({place->at, std::log(point.ns), shape});
    draft.estimates.push_back(*estimate_ns);
    draft.indices.push_back(i);
    draft.launch_ns = std::min(draft.launch_ns, point.ns);
    draft.last = std::move(*place);
  }
  for (auto& [group, draft] : drafts) {
    if (draft.points.size() < points_min) {
      left_out_ += draft.points.size();
      continue;
    }
    for (std::size_t i = 0; i < draft.points.size(); ++i) {
      draft.points[i].value -= std::log(draft.launch_ns + draft.estimates[i]);
    }
    Family family{.kriging = LocalKriging(std::move(draft.points)),
                  .points = std::move(draft.indices),
                  .launch_ns = draft.launch_ns,
                  .calibration = {},
                  .names = std::move(draft.last.names),
                  .lengths = std::move(draft.last.lengths)};
    family.calibration = calibrated(family.kriging);
    families_.emplace(group, std::move(family));
  }
}

Interpolation::Interval Interpolation::interval(const Family& family,
                                                const LocalKriging::Prediction& prediction,
                                                double estimate_ns, double widening) const {
  const Calibration& bins = family.calibration;
  const auto bin = std::ranges::lower_bound(bins.distances, prediction.distance);
  const auto index =
      std::min(static_cast<std::size_t>(bin - bins.distances.begin()), bins.factors.size() - 1);
  const double half = bins.factors[index] * prediction.deviation * widening;
  const double ns = (family.launch_ns + estimate_ns) * std::exp(prediction.value);
  return {ns, ns * std::exp(-half), ns * std::exp(half)};
}

std::optional<Latency> Interpolation::latency(const Problem& problem) const {
  const OpContract* contract = find_contract(problem.op);
  const auto place = interpolation_place(problem);
  if (contract == nullptr || !place) return std::nullopt;
  const auto it = families_.find(place->group);
  if (it == families_.end()) return std::nullopt;
  const Family& family = it->second;
  const auto estimate_ns = target_.local_ns(contract->work(problem.params));
  if (!estimate_ns) return std::nullopt;

  double outside = 0;  // octaves beyond the measured range, the worst coordinate
  std::string which;
  for (std::size_t d = 0; d < place->at.size(); ++d) {
    const double beyond =
        std::max(family.kriging.low(d) - place->at[d], place->at[d] - family.kriging.high(d)) *
        family.lengths[d];
    if (beyond > outside) {
      outside = beyond;
      which = family.names[d];
    }
  }
  constexpr double rounding = 1e-9;
  if (outside > outside_max_octaves + rounding) return std::nullopt;
  const auto predicted = family.kriging.at(place->at);
  if (!predicted) return std::nullopt;
  const Interval figures = interval(family, *predicted, *estimate_ns, 1 + outside);
  Latency out{.ns = figures.ns,
              .low_ns = figures.low_ns,
              .high_ns = figures.high_ns,
              .provenance = Provenance::interpolated};
  out.reason = "from neighbours measured on " + source_;
  if (outside > rounding) out.reason += "; " + which + " lies outside of what was measured";
  return out;
}

std::vector<Interpolation::Check> Interpolation::check(LeaveOut what, std::size_t count) const {
  std::vector<Check> out;
  std::size_t total = 0;
  for (const auto& [group, family] : families_) total += family.points.size();
  for (const auto& [group, family] : families_) {
    const std::size_t share = (count * family.points.size() + total - 1) / total;
    const auto chosen =
        sample(family.points.size(), share, [](std::size_t i) { return !is_for_calibration(i); });
    for (const std::size_t i : chosen) {
      const LocalKriging::Point& known = family.kriging.points()[i];
      LocalKriging::LeftOut left_out{.point = i};
      if (what == LeaveOut::shape) left_out.shape = known.shape;
      const auto predicted = family.kriging.at(known.at, left_out);
      if (!predicted) continue;
      const LatencyPoint& point = points_[family.points[i]];
      const double estimate_ns =
          measured_on_.local_ns(find_contract(point.problem.op)->work(point.problem.params))
              .value_or(0);
      const Interval figures = interval(family, *predicted, estimate_ns, 1);
      out.push_back({&point, figures.ns, figures.low_ns, figures.high_ns});
    }
  }
  return out;
}

}  // namespace halmark
