#include "latency/device_transfer.hpp"

#include <algorithm>
#include <cmath>

#include "latency/conformal.hpp"
#include "latency/interpolation_place.hpp"

namespace halmark {

namespace {

constexpr std::size_t calibration_max = 400;  // points per device left out

double larger(const ResourceTimes& times) {
  return std::max({times.compute_ns, times.memory_ns, times.link_ns});
}

// As Interpolation sees a time: launch and what binds, times a utilisation that carries over.
double carried(double ns, double launch_ns, const ResourceTimes& from, const ResourceTimes& to) {
  return ns * (launch_ns + larger(to)) / (launch_ns + larger(from));
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
    const double launch_ns = series.interpolation->launch_ns(problem);
    return Carried{std::log(carried(known->ns, launch_ns, *own, target)),
                   std::log(known->high_ns / known->ns), series.number};
  }
  return std::nullopt;
}

std::optional<DeviceTransfer::Vote> DeviceTransfer::vote(const Problem& problem,
                                                         const ResourceTimes& target,
                                                         const Source* left_out) const {
  Vote out;
  for (const auto& source : sources_) {
    if (source.get() == left_out) continue;
    const auto carried = from(*source, problem, target);
    if (!carried) continue;
    out.log_ns += carried->log_ns;
    out.log_width = std::max(out.log_width, carried->log_width);
    out.devices.push_back(source->id);
    out.series.push_back(carried->series);
  }
  if (out.devices.empty()) return std::nullopt;
  out.log_ns /= static_cast<double>(out.devices.size());
  return out;
}

const DeviceTransfer::Calibration& DeviceTransfer::calibration(const Problem& problem) const {
  const std::string group = interpolation_place(problem)->group;
  const auto [it, is_new] = calibrations_.try_emplace(group);
  Calibration& out = it->second;
  if (!is_new || sources_.size() < 2) return out;
  std::map<ResourceTimes::Resource, std::vector<double>> errors;
  for (const auto& source : sources_) {
    std::vector<const LatencyPoint*> points;
    for (const Series& series : source->series) {
      for (const LatencyPoint& point : series.points) {
        const auto place = interpolation_place(point.problem);
        if (place && place->group == group) points.push_back(&point);
      }
      if (!points.empty()) break;
    }
    std::size_t predicted = 0;
    for (const std::size_t i :
         spread(points.size(), calibration_max, [](std::size_t) { return true; })) {
      const auto times = source->rates.of(points[i]->problem);
      const auto guess = times ? vote(points[i]->problem, *times, source.get()) : std::nullopt;
      if (!guess) continue;
      errors[times->binding()].push_back(std::abs(guess->log_ns - std::log(points[i]->ns)));
      ++predicted;
    }
    if (predicted > 0) out.devices.push_back(source->id);
  }
  for (auto& [resource, values] : errors) {
    if (values.size() < residuals_min) continue;
    out.widths[resource] = conformal_quantile(std::move(values), interval_coverage);
  }
  return out;
}

std::optional<DeviceTransfer::Figure> DeviceTransfer::at(const Problem& problem,
                                                         const ResourceRates& target) const {
  const auto times = target.of(problem);
  const auto voted = times ? vote(problem, *times, nullptr) : std::nullopt;
  if (!voted) return std::nullopt;
  Figure out{.ns = std::exp(voted->log_ns),
             .binding = times->binding(),
             .devices = voted->devices,
             .series = voted->series};
  const Calibration& known = calibration(problem);
  const auto width = known.widths.find(out.binding);
  out.is_calibrated = width != known.widths.end() && known.devices.size() >= 2;
  const double half = out.is_calibrated ? width->second : voted->log_width;
  if (out.is_calibrated) out.left_out = known.devices;
  out.low_ns = out.ns * std::exp(-half);
  out.high_ns = out.ns * std::exp(half);
  return out;
}

}  // namespace halmark
