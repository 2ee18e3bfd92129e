// Interpolation: the time of a problem that nobody measured, from the utilisation of measured
// neighbours: time = (launch + roofline estimate) x exp(u), with u kriged over log sizes. Every
// figure carries a 90 % interval calibrated on predictions of known points without themselves.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/latency.hpp"
#include "latency/interpolation_place.hpp"
#include "latency/latency_point.hpp"
#include "latency/local_kriging.hpp"
#include "roofline/estimate.hpp"

namespace halmark {

class Interpolation {
 public:
  // `points` of one implementation. Those that the device states no estimate for, or whose family
  // has fewer than points_min, are left out and counted. `target`: predict for this device instead,
  // utilisation carried over; null = the one measured on.
  Interpolation(std::span<const LatencyPoint> points, const Device& measured_on, ShardShare share,
                const Device* target = nullptr);

  static constexpr std::size_t points_min = 24;

  // Provenance interpolated, with a 90 % interval and without any bound. Up to one octave outside
  // of what was measured the interval is widened and the reason says so; nothing beyond that.
  std::optional<Latency> latency(const Problem& problem) const;

  std::size_t left_out() const { return left_out_; }

  enum class LeaveOut { point, shape };
  struct Check {
    const LatencyPoint* point = nullptr;
    double ns = 0, low_ns = 0, high_ns = 0;
  };
  // Predictions of `count` known points (all where there are fewer), spread evenly over the family
  // of each and none of them used for calibration, without themselves or without their whole shape.
  std::vector<Check> check(LeaveOut what, std::size_t count) const;

 private:
  // |error| / deviation that 90 % of the calibration stay below, by distance to the nearest point.
  struct Calibration {
    std::vector<double> distances;  // upper ends, ascending; the last is unbounded
    std::vector<double> factors;
  };
  struct Family {
    LocalKriging kriging;
    std::vector<std::size_t> points;  // indices into points_
    double launch_ns = 0;             // the shortest time seen
    Calibration calibration;
    std::vector<std::string> names;
    std::vector<double> lengths;
  };
  struct Interval {
    double ns = 0, low_ns = 0, high_ns = 0;
  };
  static Calibration calibrated(const LocalKriging& kriging);
  static bool is_for_calibration(std::size_t point);
  Interval interval(const Family& family, const LocalKriging::Prediction& prediction,
                    double estimate_ns, double widening) const;

  std::vector<LatencyPoint> points_;
  std::map<std::string, Family> families_;
  RooflineRates measured_on_, target_;
  std::string source_;
  std::size_t left_out_ = 0;
};

}  // namespace halmark
