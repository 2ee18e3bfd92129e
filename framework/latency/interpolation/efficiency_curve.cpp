#include "latency/interpolation/efficiency_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/text/text.hpp"
#include "core/text/units.hpp"
#include "kernels/contract.hpp"
#include "latency/interpolation/conformal.hpp"
#include "roofline/estimate.hpp"

namespace halmark {

namespace {

// More samples move a curve of nine numbers by less than its own error.
constexpr std::size_t samples_max = 240;
constexpr double huber = 0.1;  // of a logarithm: errors above 10 % count linearly

// Positions of the parameters.
enum : std::size_t {
  launch,
  compute_e,
  compute_h,
  compute_q,
  memory_e,
  memory_h,
  memory_q,
  link_e,
  smooth
};

// `half`: logarithm of the time at peak where the share is 2^-q of its end.
double at_share(double ns, double end, double half, double slope) {
  if (ns <= 0) return 0;
  return ns / end * std::pow(1 + std::exp(half) / ns, slope);
}

double loss(double error) {
  const double a = std::abs(error);
  return a <= huber ? error * error / 2 : huber * (a - huber / 2);
}

}  // namespace

double ResourceTimes::largest_ns() const { return std::max({compute_ns, memory_ns, link_ns}); }

ResourceTimes::Resource ResourceTimes::binding() const {
  if (link_ns > compute_ns && link_ns > memory_ns) return Resource::link;
  return compute_ns > memory_ns ? Resource::compute : Resource::memory;
}

std::string_view resource_name(ResourceTimes::Resource resource) {
  switch (resource) {
    case ResourceTimes::Resource::compute:
      return "compute";
    case ResourceTimes::Resource::link:
      return "link";
    case ResourceTimes::Resource::memory:
      break;
  }
  return "memory";
}

ResourceRates::ResourceRates(const Device& device, std::optional<double> network_bytes_per_s)
    : device_(device), links_(device, network_bytes_per_s) {}

std::optional<ResourceTimes> ResourceRates::of(const Problem& problem) const {
  const OpContract* contract = find_contract(problem.op);
  if (contract == nullptr) return std::nullopt;
  const Work work = contract->work(problem.params);
  const auto own = roofline_estimate(work, device_, {});
  if (!own) return std::nullopt;
  ResourceTimes out{own->compute_ns, own->memory_ns, 0};
  if (work.transfer_bytes > 0) {
    const auto rate = links_.bytes_per_s(problem.params.value_or("ranks", 2));
    if (!rate) return std::nullopt;
    out.link_ns = work.transfer_bytes / *rate * ns_per_s;
  }
  return out;
}

double ResourceRates::memory_bytes_per_s() const {
  const auto stated = device_.bandwidth("memory", 0);
  return stated ? stated->bytes_per_s : 0;
}

double EfficiencyCurve::ns(const ResourceTimes& times, std::span<const double> p) {
  const double compute = at_share(times.compute_ns, p[compute_e], p[compute_h], p[compute_q]);
  const double memory = at_share(times.memory_ns, p[memory_e], p[memory_h], p[memory_q]);
  const double larger = std::max(compute, memory), smaller = std::min(compute, memory);
  double own = larger;
  if (smaller > 0)
    own = larger * std::pow(1 + std::pow(smaller / larger, p[smooth]), 1 / p[smooth]);
  return p[launch] + own + times.link_ns / p[link_e];
}

EfficiencyCurve::EfficiencyCurve(std::span<const Sample> samples, const CurveSolver& solver) {
  if (samples.size() < samples_min) throw std::logic_error("too few samples for a curve");
  std::vector<Sample> used;
  double shortest = std::numeric_limits<double>::infinity();
  for (const Sample& s : samples) {
    shortest = std::min(shortest, s.ns);
    has_compute_ |= s.times.compute_ns > 0;
    has_memory_ |= s.times.memory_ns > 0;
    has_link_ |= s.times.link_ns > 0;
  }
  for (const std::size_t i :
       spread(samples.size(), samples_max, [](std::size_t) { return true; })) {
    used.push_back(samples[i]);
  }
  // Half of a share is reached between a nanosecond and ten milliseconds of work at peak. Memory
  // may be beaten by a cache.
  const double least = std::log(1.0), most = std::log(1e7), middle = std::log(1e4);
  const std::array<double, parameters> low = {shortest / 5, 0.02, least, 0, 0.02,
                                              least,        0,    0.02,  1};
  const std::array<double, parameters> high = {shortest, 1.02, most, 1, 2, most, 1, 2, 8};
  const std::array<double, parameters> start = {shortest * 0.9, 0.7, middle, 0.3, 0.7,
                                                middle,         0.3, 0.7,    3};
  const auto objective = [&used](std::span<const double> p) {
    double sum = 0;
    for (const Sample& s : used) sum += loss(std::log(ns(s.times, p) / s.ns));
    return sum / static_cast<double>(used.size());
  };
  const std::vector<double> found = solver(objective, low, high, start);
  std::ranges::copy(found, fitted_.begin());
}

std::string EfficiencyCurve::text() const {
  std::string out;
  const auto add = [&](bool is_used, const char* name, double share) {
    if (!is_used) return;
    append_item(out, ", ", fmt::format("{} {:.0f} %", name, 100 * share));
  };
  add(has_compute_, "compute", fitted_[compute_e]);
  add(has_memory_, "memory", fitted_[memory_e]);
  add(has_link_, "link", fitted_[link_e]);
  return out + fmt::format(" of peak, launch {:.1f} us", fitted_[launch] / 1e3);
}

}  // namespace halmark
