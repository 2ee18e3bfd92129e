// One family of problems of one implementation: utilisation kriged between neighbours, times linear
// along a line, or their mean, whichever predicts left-out points best; and intervals that hold
// what they say of points left out, and of shapes left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "latency/interpolation/line_interpolation.hpp"
#include "latency/interpolation/local_kriging.hpp"

namespace halmark {

class InterpolationFamily {
 public:
  struct Point {
    std::vector<double> at;  // in correlation lengths
    double size = 0;         // the free one, of its line
    double ns = 0, estimate_ns = 0;
    std::int32_t shape = 0, line = 0;
  };
  // What 90 % of true times lie between, of the predicted one: of shapes with points, and of others
  // within a correlation length of one. Who thinned a table knows it of what it left out.
  struct StatedErrors {
    struct Ratios {
      double low = 1, high = 1;
    };
    Ratios of_points, of_shapes;
  };
  // `launch_ns`: the shortest time seen. Predicts about 2,000 of the points to calibrate itself.
  // Where errors are stated: none, and it is kriging.
  InterpolationFamily(std::span<const Point> points, double launch_ns,
                      const std::optional<StatedErrors>& stated = {});

  // Where a time is asked for: a Point whose shape and line may be unknown, without a time.
  struct Place {
    std::span<const double> at;
    double size = 0, estimate_ns = 0;
    std::optional<std::int32_t> shape = {}, line = {};
    double beyond_octaves = 0;  // the measured sizes
  };
  struct LeftOut {
    std::optional<std::size_t> point = {};
    std::optional<std::int32_t> shape = {};
    double nearer_than = 0;  // correlation lengths
  };
  struct Figure {
    double ns = 0, low_ns = 0, high_ns = 0;
    bool is_calibrated = false;  // low..high holds 90 % of what was left out for it
    bool is_shape_known = false;
  };
  // Nothing with fewer than two points to predict from.
  std::optional<Figure> at(const Place& place, const LeftOut& left_out) const;
  std::optional<Figure> at(const Place& place) const { return at(place, {}); }

  // "linear in size below 0.6 octaves, kriging": what predicts points of known lines, by how far
  // their neighbours on it are apart.
  std::string method() const;
  double launch_ns() const { return launch_ns_; }
  const LocalKriging& kriging() const { return known_.kriging; }

  // Points that calibrated neither the intervals of points nor those of shapes, in even spread.
  std::vector<std::size_t> unused_points(std::size_t count) const;
  std::vector<std::size_t> unused_shapes(std::size_t count) const;  // points of them
  Place place_of(std::size_t point) const;

 private:
  enum class Method : std::uint8_t { kriging, line, mean };
  // |error| / deviation that 90 % of the calibration stay below, by distance to the nearest point.
  struct Calibration {
    std::vector<double> distances;  // upper ends, ascending; the last is unbounded
    std::vector<double> factors;
    std::size_t residuals = 0;
  };
  struct Residual {
    double distance = 0;
    double ratio = 0;  // |error| / deviation
  };
  // What to do between neighbours on a line, by how far they are apart at most: ascending.
  struct Step {
    double octaves = 0;
    Method method = Method::kriging;
  };
  // How points of known shapes are predicted, or those of unseen ones.
  struct Question {
    LocalKriging kriging;
    std::vector<Step> steps = {};  // none: kriging alone
    Calibration calibration = {};
  };
  // Errors in logarithms of one left-out point by every method.
  struct Trial {
    double octaves = 0;
    double line = 0, kriging = 0, mean = 0;
    double of(Method method) const;
  };
  // Of errors: their median, and what 90 % stay below.
  struct Score {
    double median = 0, tail = 0;
    double product() const { return median * tail; }
    bool is_behind(const Score& other) const { return median > other.median || tail > other.tail; }
  };
  struct Logarithm {
    double log_ns = 0, deviation = 0, distance = 0;
  };
  std::optional<Logarithm> log_at(const Question& question, const Place& place,
                                  const LeftOut& left_out) const;
  static Method method_at(std::span<const Step> steps, double octaves);
  static Score score(std::span<const Trial> trials, std::span<const Step> steps);
  static Method better_method(std::span<const Trial> trials);
  // With the reach that predicts `chosen` best without themselves, or without their shapes.
  LocalKriging reaching(std::span<const std::size_t> chosen, bool leaves_shapes) const;
  void choose_methods(std::span<const std::size_t> chosen);
  Calibration of_points(std::span<const std::size_t> chosen) const;
  Calibration of_shapes(std::span<const std::size_t> chosen) const;
  void add_residual(const Question& question, std::size_t point, const LeftOut& left_out,
                    std::vector<Residual>& to) const;
  static Calibration calibration(std::vector<Residual> residuals);
  std::optional<Figure> stated_at(const Place& place, const LeftOut& left_out) const;
  static std::vector<LocalKriging::Point> utilisations(std::span<const Point> points,
                                                       double launch_ns);
  static std::vector<LineInterpolation::Point> lines(std::span<const Point> points);

  std::span<const Point> points_;
  double launch_ns_ = 0;
  LineInterpolation lines_;
  std::size_t shapes_ = 0;
  Question known_, unseen_;
  std::optional<StatedErrors> stated_;
};

}  // namespace halmark
