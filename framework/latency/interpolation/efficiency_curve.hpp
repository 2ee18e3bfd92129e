// Efficiency curves: how a family of kernels uses a device, by size. Each resource is used better
// the more there is to do, up to a share that is never reached:
//   share(t) = e (t / (t + h))^q, t = time at the peak of that resource (hardware.md calls it
//   utilisation); time = launch + ((compute / share)^p + (memory / share)^p)^(1/p) + link / share.
// Fitted to logarithms of times within bounds, large errors counting linearly (Huber 1964).
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/problem.hpp"
#include "roofline/links.hpp"

namespace halmark {

// Times at the peaks of a device, each resource alone; 0 = not needed.
struct ResourceTimes {
  double compute_ns = 0, memory_ns = 0, link_ns = 0;

  enum class Resource { compute, memory, link };
  Resource binding() const;
  double largest_ns() const;
};
// What a launch of a captured graph takes, on every device.
inline constexpr double graph_launch_ns = 2000;
std::string_view resource_name(ResourceTimes::Resource resource);

// The resources of one device.
class ResourceRates {
 public:
  // `network_bytes_per_s`: see roofline::Links.
  explicit ResourceRates(const Device& device, std::optional<double> network_bytes_per_s = {});
  // Nothing for an op without contract, and where the device states no figure for what it needs.
  std::optional<ResourceTimes> of(const Problem& problem) const;
  // What `of` divides by; 0 = not stated.
  double memory_bytes_per_s() const;
  double link_bytes_per_s() const { return links_.link_bytes_per_s.value_or(0); }

 private:
  Device device_;
  roofline::Links links_;
};

// Minimises `objective` within low..high from `start`: search's minimiser, which this room does not
// know. Empty = there is none.
using CurveSolver = std::function<std::vector<double>(
    const std::function<double(std::span<const double>)>& objective, std::span<const double> low,
    std::span<const double> high, std::span<const double> start)>;

class EfficiencyCurve {
 public:
  struct Sample {
    ResourceTimes times;
    double ns = 0;
  };
  static constexpr std::size_t samples_min = 24;

  // Throws std::logic_error below samples_min. Uses a few hundred of the samples in even spread.
  EfficiencyCurve(std::span<const Sample> samples, const CurveSolver& solver);

  double ns(const ResourceTimes& times) const { return ns(times, fitted_); }
  double launch_ns() const { return fitted_[0]; }
  // "compute 78 %, memory 84 % of peak, launch 3.2 us": what large problems reach.
  std::string text() const;

 private:
  static constexpr std::size_t parameters = 9;
  static double ns(const ResourceTimes& times, std::span<const double> parameters);

  std::array<double, parameters> fitted_{};
  bool has_compute_ = false, has_memory_ = false, has_link_ = false;
};

}  // namespace halmark
