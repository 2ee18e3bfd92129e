#include "onboard/fit.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/numeric/statistics.hpp"
#include "kernels/contract.hpp"
#include "latency/forecast/forecast_source.hpp"
#include "latency/imported/table_layout.hpp"
#include "latency/interpolation/believed_points.hpp"
#include "latency/interpolation/conformal.hpp"
#include "latency/interpolation/interpolation.hpp"
#include "latency/interpolation/interpolation_place.hpp"

namespace halmark::onboard {
namespace {

using Ratios = InterpolationFamily::StatedErrors::Ratios;

// True over predicted, of each that could be predicted.
std::vector<double> left_out_ratios(const Interpolation& interpolation,
                                    Interpolation::LeaveOut what, std::size_t count,
                                    const std::set<Problem>& floors) {
  std::vector<double> out;
  for (const Interpolation::Check& check : interpolation.check(what, count)) {
    if (check.ns > 0 && !floors.contains(check.point->problem))
      out.push_back(check.point->ns / check.ns);
  }
  return out;
}

// The same of all points of one size (rows, context) by those of other sizes around it: models ask
// for sizes that nothing was measured at.
std::vector<double> left_out_size_ratios(std::span<const LatencyPoint> points, const Device& device,
                                         const std::set<Problem>& floors) {
  std::set<double> sizes;
  for (const LatencyPoint& p : points) sizes.insert(interpolation_place(p.problem)->free);
  std::vector<double> out;
  for (const double size : sizes) {
    std::vector<LatencyPoint> others, own;
    for (const LatencyPoint& p : points) {
      (interpolation_place(p.problem)->free == size ? own : others).push_back(p);
    }
    const Interpolation known(others, device, {}, {}, InterpolationFamily::StatedErrors{});
    for (const LatencyPoint& p : own) {
      if (floors.contains(p.problem) || known.is_outside(p.problem)) continue;
      if (const auto latency = known.latency(p.problem)) out.push_back(p.ns / latency->ns);
    }
  }
  return out;
}

// What 90 % of those to come lie between, as far above as below. Few of them widen it by a tenth.
Ratios ratios_of(const std::vector<double>& ratios) {
  if (ratios.empty()) return {0.5, 2};
  std::vector<double> sizes;
  for (const double ratio : ratios) sizes.push_back(std::abs(std::log(ratio)));
  const double wider = ratios.size() < residuals_min ? 1.1 : 1;
  const double factor = wider * std::exp(conformal_quantile(std::move(sizes), conformal_coverage));
  return {1 / factor, factor};
}

ForecastKind kind_of(const std::string& op, std::span<const LatencyPoint> points,
                     const std::set<Problem>& floors, const Device& device) {
  ForecastKind out;
  out.name = std::string(op_kind_prefix) + op;
  out.rows = out.rows_of_table = points.size();
  const Interpolation interpolation(points, device, {}, {}, InterpolationFamily::StatedErrors{});
  const auto of_points =
      left_out_ratios(interpolation, Interpolation::LeaveOut::point, points.size(), floors);
  auto of_shapes =
      left_out_ratios(interpolation, Interpolation::LeaveOut::shape, points.size(), floors);
  std::ranges::move(left_out_size_ratios(points, device, floors), std::back_inserter(of_shapes));
  ForecastSeries series{.name = op, .of = points.size(), .rows = points.size(), .errors = {}};
  series.errors.of_points = ratios_of(of_points);
  series.errors.of_shapes = ratios_of(of_shapes.empty() ? of_points : of_shapes);
  std::vector<double> errors;
  for (const double ratio : of_shapes.empty() ? of_points : of_shapes) {
    errors.push_back(std::abs(1 / ratio - 1));
  }
  if (!errors.empty()) {
    series.median = quantile(errors, 0.5);
    series.p90 = quantile(errors, 0.9);
  }
  out.series = {std::move(series)};
  return out;
}

FamilyError error_of(std::string family, std::span<const HeldKernel> kernels) {
  FamilyError out{.family = std::move(family), .held_out = kernels.size()};
  std::vector<double> errors;
  std::size_t inside = 0;
  for (const HeldKernel& k : kernels) {
    if (!k.ns) {
      ++out.unreached;
      continue;
    }
    errors.push_back(std::abs(k.error()));
    inside += k.is_inside() ? 1 : 0;
  }
  if (errors.empty()) return out;
  out.median = quantile(errors, 0.5);
  out.p90 = quantile(errors, 0.9);
  out.inside = static_cast<double>(inside) / static_cast<double>(errors.size());
  return out;
}

}  // namespace

std::vector<FittedKind> fitted(std::span<const LatencyPoint> points,
                               const std::set<Problem>& floors, const Device& device,
                               QuarantinedTimes& too_fast) {
  std::map<std::string, std::vector<LatencyPoint>> by_op;
  for (LatencyPoint& point : believed_points(points, roofline::Ceilings(device, 0), {}, too_fast)) {
    by_op[point.problem.op].push_back(std::move(point));
  }
  std::vector<FittedKind> out;
  for (auto& [op, of_op] : by_op) {
    if (of_op.size() < 2) continue;
    FittedKind& next = out.emplace_back();
    next.op = op;
    next.kind = kind_of(op, of_op, floors, device);
    next.points = std::move(of_op);
  }
  return out;
}

void predict(std::span<HeldKernel> kernels, const ForecastFile& file, const Device& device) {
  const ForecastSource source(file, device, {}, [](std::int64_t) { return false; });
  for (HeldKernel& k : kernels) {
    const Work work = find_contract(k.problem.op)->work(k.problem.params);
    const auto latency = source.latency(k.problem, work, 1);
    if (!latency || latency->status == Status::quarantined) continue;
    k.ns = latency->ns;
    k.low_ns = latency->low_ns;
    k.high_ns = latency->high_ns;
  }
}

std::vector<FamilyError> family_errors(std::span<const HeldKernel> kernels,
                                       const std::map<std::string, std::size_t>& fitted) {
  std::map<std::string, std::vector<HeldKernel>> by_family;
  std::size_t all_fitted = 0;
  for (const auto& [family, points] : fitted) {
    by_family[family];
    all_fitted += points;
  }
  for (const HeldKernel& k : kernels) by_family[k.family].push_back(k);
  std::vector<FamilyError> out;
  for (const auto& [family, own] : by_family) {
    out.push_back(error_of(family, own));
    const auto known = fitted.find(family);
    out.back().fitted = known == fitted.end() ? 0 : known->second;
  }
  out.push_back(error_of("all kernels", kernels));
  out.back().fitted = all_fitted;
  return out;
}

}  // namespace halmark::onboard
