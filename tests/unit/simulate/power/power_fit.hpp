// Power models through measured points.
#pragma once

#include <span>

#include "simulate/power/power_model.hpp"

namespace halmark::power {

struct PowerPoint {
  Activity activity;
  double seconds = 0;  // of one execution
  double watts = 0;
};

// By NLopt's Subplex within a box, with a loss of log residuals that is linear for outliers: meters
// average over longer than a short kernel's loop. Throws Error (exit 2) of fewer than twelve
// points, or of one that is no positive power or time.
PowerModel fit_power(std::span<const PowerPoint> points, double limit_w);

}  // namespace halmark::power
