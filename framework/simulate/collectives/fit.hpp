// Curves through measured points: bounded parameters, a robust loss of log residuals, and intervals
// from points that were held out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/numeric/statistics.hpp"
#include "simulate/collectives/curve.hpp"

namespace halmark::simulate {

struct CollectivePoint {
  std::int64_t ranks = 2;  // > 1
  double bytes = 0;        // > 0, as in collective.hpp
  double seconds = 0;      // > 0
};

struct FitOptions {
  int starts = 10;  // beside the middle of the box, of each shape
  int evaluations_max = 3000;
  double residual_scale = 0.1;  // larger log residuals count linearly: outliers
};

struct CollectiveFit {
  CollectiveCurve curve;
  std::size_t points = 0;
  double mean_error = 0;        // |modelled / measured - 1| of the points fitted
  double log_half_width = 0;    // of the interval: 90 % of held-out log residuals lie within
  double link_bytes_per_s = 0;  // of one rank; 0 = not known
  bool adds_in_switch = false;

  // Never below the bound of roofline, where a link is known.
  double seconds(double bytes, std::int64_t ranks) const;
  // 90 %, by the points that were held out; never below the bound.
  Interval interval_s(double bytes, std::int64_t ranks) const;
  double bound_s(double bytes, std::int64_t ranks) const;
};

// What is known of the link that the points ran over.
struct FitLink {
  double bytes_per_s = 0;  // 0 = not known
  bool adds_in_switch = false;
};

// The shape whose points lie nearest; all have as many parameters. Intervals: every third size is
// held out in turn and predicted by a fit of the others. Throws Error (exit 2) of less than twice
// as many points as parameters, of fewer than six sizes, or of a point that is not a positive
// number.
CollectiveFit fit_collective(Collective collective, std::span<const CollectivePoint> points,
                             const FitLink& link = {}, const FitOptions& options = {});

}  // namespace halmark::simulate
