// Beyond the sizes that were measured: the efficiency curve of a family, moved by what its nearest
// known points differ from it. How far that can be trusted is seen on known sizes that a second
// curve was not given: the outermost octaves of the very end that is asked beyond.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "latency/interpolation/efficiency_curve.hpp"
#include "latency/interpolation/local_kriging.hpp"

namespace halmark {

inline constexpr double octave_rounding = 1e-9;  // sums of octaves are equal within it

class Extrapolation {
 public:
  struct Point {
    std::vector<double> at;  // in correlation lengths
    ResourceTimes times;
    double ns = 0;
  };
  // `lengths` of the coordinates in octaves; 0 = beyond it lies nothing new. At least
  // EfficiencyCurve::samples_min points.
  Extrapolation(std::vector<Point> points, std::vector<double> lengths, CurveSolver solver);

  // Octaves beyond the known coordinates, by coordinate; 0 inside. Of a place as Point::at.
  static std::vector<double> beyond(std::span<const double> at, const LocalKriging& known,
                                    std::span<const double> lengths);

  struct Figure {
    double ns = 0, low_ns = 0, high_ns = 0;
    bool is_calibrated = false;  // 90 % of held-out sizes as far out lie in such an interval
  };
  // Nothing with fewer than two known points to move the curve by.
  std::optional<Figure> at(std::span<const double> at, const ResourceTimes& times) const;
  const EfficiencyCurve& curve() const { return curve_; }

  // Points of the outermost octaves of one end as a curve without them predicts them.
  struct Check {
    std::size_t point = 0;
    double octaves = 0;  // beyond what the curve was given
    double ns = 0;
  };
  enum class End { low, high };
  // Empty where the known sizes are too few to hold some out.
  std::vector<Check> held_out(std::size_t coordinate, End end) const;

 private:
  // Of |error| in logarithms, by octaves out: widths[i] holds up to i + 1.
  struct Calibration {
    std::vector<double> widths;
  };
  const Calibration& calibration(std::size_t coordinate, End end) const;
  static LocalKriging moved(std::span<const Point> points, const EfficiencyCurve& curve);
  static std::vector<EfficiencyCurve::Sample> samples(std::span<const Point> points);

  std::vector<Point> points_;
  std::vector<double> lengths_;
  CurveSolver solver_;
  EfficiencyCurve curve_;
  LocalKriging residuals_;
  mutable std::map<std::pair<std::size_t, End>, Calibration> calibrations_;
};

}  // namespace halmark
