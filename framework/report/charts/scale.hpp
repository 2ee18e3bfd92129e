// Axes: values to picture units, and where the ticks go.
#pragma once

#include <vector>

namespace halmark::report {

// Logarithmic axis from [low, high] (both > 0) to [from, to] in picture units.
class LogScale {
 public:
  LogScale(double low, double high, double from, double to);
  // As far as padded_range of these values.
  static LogScale around(const std::vector<double>& values, double room, double from, double to);
  double at(double value) const;  // clamped to the axis
  bool holds(double value) const { return value >= low_ && value <= high_; }
  double low() const { return low_; }
  double high() const { return high_; }
  double from() const { return from_; }
  double to() const { return to_; }

 private:
  double low_, high_, from_, to_;
};

// The smallest log range with room around the values; a single value gets a factor of 2 each way.
// Values that are not finite and positive are ignored; without any, 1..10.
struct Range {
  double low = 1;
  double high = 10;
};
Range padded_range(const std::vector<double>& values, double factor);

// 1-2-5 within the range; decades alone when that gives too many, even steps when too few.
std::vector<double> log_ticks(double low, double high, int count_max);

}  // namespace halmark::report
