// Order statistics of samples and of process medians. Inputs need not be sorted.
#pragma once

#include <span>

namespace halmark {

struct Interval {
  double low = 0;
  double high = 0;
};

// Linear-interpolation quantile, q in [0, 1]; values must not be empty.
double quantile(std::span<const double> values, double q);
double median(std::span<const double> values);
double mean(std::span<const double> values);

// Distribution-free interval of the median at about 95 %: exact binomial ranks below n = 50, normal
// ranks floor(n/2 - 0.98 sqrt n) and ceil(n/2 + 1 + 0.98 sqrt n) above. Below 6 values no rank pair
// reaches 95 %: the interval is min..max and `is_95_percent` says false.
struct MedianInterval {
  Interval interval;
  bool is_95_percent = false;
};
MedianInterval median_interval(std::span<const double> values);

// (q3 - q1) / median.
double relative_iqr(std::span<const double> values);

}  // namespace halmark
