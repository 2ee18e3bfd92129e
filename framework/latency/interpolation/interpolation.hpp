// Interpolation: the time of a problem that nobody measured, from measured ones of its family:
// between them as its InterpolationFamily predicts, beyond the measured sizes by efficiency curve.
// Every figure says which, and of what its interval holds 90 %; where nothing tells, it says that.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/latency.hpp"
#include "latency/interpolation/efficiency_curve.hpp"
#include "latency/interpolation/extrapolation.hpp"
#include "latency/interpolation/interpolation_family.hpp"
#include "latency/interpolation/interpolation_place.hpp"
#include "latency/latency_point.hpp"
#include "roofline/estimate.hpp"

namespace halmark {

// One thread: what a family needs is worked out when its first problem is asked for.
class Interpolation {
 public:
  // `points` of one implementation. Those that the device states no estimate for, or whose family
  // has fewer than points_min, are left out and counted. Without `solver` nothing is predicted
  // beyond the measured sizes. With `stated` errors any two points of a family count, and what they
  // reach of the device goes on beyond the measured sizes.
  using StatedErrors = std::optional<InterpolationFamily::StatedErrors>;
  Interpolation(std::span<const LatencyPoint> points, const Device& measured_on, ShardShare share,
                CurveSolver solver = {}, StatedErrors stated = {});

  static constexpr std::size_t points_min = 24;
  static constexpr double outside_max_octaves = 6;

  // Provenance interpolated, without any bound; `reason` says between which points or by which
  // curve, and what the interval holds. Nothing for another family, and farther outside of what was
  // measured than outside_max_octaves.
  std::optional<Latency> latency(const Problem& problem) const;
  // Whether it would be by efficiency curve: some size lies beyond those measured.
  bool is_outside(const Problem& problem) const;
  // Of the problem's family; null where there is none, or no solver.
  const EfficiencyCurve* curve(const Problem& problem) const;
  // The shortest time seen in the problem's family; 0 for one that is not here.
  double launch_ns(const Problem& problem) const;

  std::size_t left_out() const { return left_out_; }

  enum class LeaveOut { point, shape };
  struct Check {
    const LatencyPoint* point = nullptr;
    double ns = 0, low_ns = 0, high_ns = 0;
    bool is_calibrated = false;
  };
  // Predictions of `count` known points (all where there are fewer), spread evenly over the family
  // of each, without themselves or without their whole shape. Points that calibrated the intervals
  // in question are left out, except in families too small for that.
  std::vector<Check> check(LeaveOut what, std::size_t count) const;

  struct SizeCheck {
    const LatencyPoint* point = nullptr;
    double octaves = 0;  // beyond the sizes that were not held out
    double ns = 0;
  };
  // Of the outermost octaves of the first coordinate, both ends, as curves without them say.
  std::vector<SizeCheck> check_sizes() const;
  // One line per family that was asked for: "attention ... decode: kriging; compute 78 %, ...".
  std::vector<std::string> methods() const;

 private:
  struct Family {
    std::vector<InterpolationFamily::Point> known;
    std::vector<std::size_t> points;  // indices into points_
    std::map<std::string, std::int32_t> shapes, lines;
    std::vector<std::string> names;
    std::vector<double> lengths;  // InterpolationPlace::range_lengths
    double launch_ns = 0;         // the shortest time seen
    std::unique_ptr<InterpolationFamily> inside;
    std::unique_ptr<Extrapolation> outside;
    std::vector<std::size_t> outside_points;  // of its points: indices into points_
  };
  void add(std::size_t index);
  const InterpolationFamily& inside(Family& family) const;
  const Extrapolation* outside(Family& family) const;
  Family* family_of(const InterpolationPlace& place) const;
  std::optional<Latency> extrapolated(Family& family, const Problem& problem,
                                      const InterpolationPlace& place,
                                      std::span<const double> octaves) const;

  std::vector<LatencyPoint> points_;
  mutable std::map<std::string, Family> families_;
  RooflineRates measured_on_;
  ResourceRates resources_;
  CurveSolver solver_;
  StatedErrors stated_;
  std::string source_;
  std::size_t left_out_ = 0;
};

}  // namespace halmark
