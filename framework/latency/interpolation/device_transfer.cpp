#include "latency/interpolation/device_transfer.hpp"

#include <algorithm>
#include <cmath>

#include "latency/interpolation/conformal.hpp"
#include "latency/interpolation/interpolation_place.hpp"

namespace halmark {

namespace {

constexpr std::size_t calibrated_on_max = 400;  // points per device left out

constexpr double unlikeness_min = 0.1, growth = 0.8;

double unlikeness(const ResourceRates& a, const ResourceRates& b, const ResourceTimes& times) {
  const bool is_collective = times.link_ns > 0;
  const auto rate = [&](const ResourceRates& of) {
    return is_collective ? of.link_bytes_per_s() : of.memory_bytes_per_s();
  };
  return std::max(unlikeness_min, std::abs(std::log(rate(a) / rate(b))));
}

// How much longer the target takes.
double ratio(const Interpolation& known, const Problem& problem, const ResourceTimes& from,
             const ResourceTimes& to) {
  if (const EfficiencyCurve* curve = known.curve(problem)) return curve->ns(to) / curve->ns(from);
  const double launch_ns = known.launch_ns(problem);
  return (launch_ns + to.largest_ns()) / (launch_ns + from.largest_ns());
}

}  // namespace

DeviceTransfer::DeviceTransfer(std::optional<double> network_bytes_per_s, CurveSolver solver)
    : network_bytes_per_s_(network_bytes_per_s), solver_(std::move(solver)) {}

void DeviceTransfer::add(std::span<const LatencyPoint> points, const Device& measured_on) {
  auto source = std::ranges::find(sources_, measured_on.id, [](const auto& s) { return s->id; });
  if (source == sources_.end()) {
    sources_.push_back(std::make_unique<Source>(
        Source{measured_on.id, ResourceRates(measured_on, network_bytes_per_s_), {}}));
    source = std::prev(sources_.end());
  }
  (*source)->series.push_back(
      {added_++,
       {points.begin(), points.end()},
       std::make_unique<Interpolation>(points, measured_on, ShardShare{}, solver_)});
}

std::optional<DeviceTransfer::Carried> DeviceTransfer::from(const Source& source,
                                                            const Problem& problem,
                                                            const ResourceTimes& target) const {
  const auto own = source.rates.of(problem);
  if (!own) return std::nullopt;
  for (const Series& series : source.series) {
    const auto known = series.interpolation->latency(problem);
    if (!known) continue;
    return Carried{std::log(known->ns * ratio(*series.interpolation, problem, *own, target)),
                   std::log(known->high_ns / known->ns), series.number};
  }
  return std::nullopt;
}

std::optional<DeviceTransfer::Vote> DeviceTransfer::vote(const Problem& problem,
                                                         const ResourceRates& target,
                                                         const Source* left_out) const {
  const auto times = target.of(problem);
  if (!times) return std::nullopt;
  Vote out;
  double weights = 0;
  for (const auto& source : sources_) {
    if (source.get() == left_out) continue;
    const auto carried = from(*source, problem, *times);
    if (!carried) continue;
    const double unlike = unlikeness(source->rates, target, *times);
    const double weight = 1 / std::pow(unlike, 4);
    weights += weight;
    out.log_ns += weight * carried->log_ns;
    out.unlikeness += weight * std::pow(unlike, growth);
    out.log_width = std::max(out.log_width, carried->log_width);
    out.devices.push_back(source->id);
    out.series.push_back(carried->series);
  }
  if (out.devices.empty()) return std::nullopt;
  out.log_ns /= weights;
  out.unlikeness /= weights;
  return out;
}

std::vector<const LatencyPoint*> DeviceTransfer::points_of(const Source& source,
                                                           const std::string& group) {
  std::vector<const LatencyPoint*> out;
  for (const Series& series : source.series) {
    for (const LatencyPoint& point : series.points) {
      const auto place = interpolation_place(point.problem);
      if (place && place->group == group) out.push_back(&point);
    }
    if (!out.empty()) break;
  }
  return out;
}

const DeviceTransfer::Calibration& DeviceTransfer::calibration(const std::string& group) const {
  const auto [it, is_new] = calibrations_.try_emplace(group);
  Calibration& out = it->second;
  if (!is_new || sources_.size() < 2) return out;
  std::vector<double> errors;
  for (const auto& source : sources_) {
    const auto points = points_of(*source, group);
    const std::size_t before = errors.size();
    for (const std::size_t i :
         spread(points.size(), calibrated_on_max, [](std::size_t) { return true; })) {
      const auto guess = vote(points[i]->problem, source->rates, source.get());
      if (!guess) continue;
      errors.push_back(std::abs(guess->log_ns - std::log(points[i]->ns)) / guess->unlikeness);
    }
    if (errors.size() > before) out.devices.push_back(source->id);
  }
  if (errors.size() < residuals_min) out.devices.clear();
  if (!out.devices.empty()) {
    out.factor = conformal_quantile(std::move(errors), conformal_coverage);
  }
  return out;
}

std::optional<DeviceTransfer::Figure> DeviceTransfer::at(const Problem& problem,
                                                         const ResourceRates& target) const {
  const auto voted = vote(problem, target, nullptr);
  if (!voted) return std::nullopt;
  Figure out{.ns = std::exp(voted->log_ns),
             .binding = target.of(problem)->binding(),
             .devices = voted->devices,
             .series = voted->series};
  const Calibration& known = calibration(interpolation_place(problem)->group);
  out.is_calibrated = known.devices.size() >= 2;
  const double half = out.is_calibrated ? known.factor * voted->unlikeness : voted->log_width;
  if (out.is_calibrated) out.left_out = known.devices;
  out.low_ns = out.ns * std::exp(-half);
  out.high_ns = out.ns * std::exp(half);
  return out;
}

}  // namespace halmark
