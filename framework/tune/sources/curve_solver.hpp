// The minimiser of the room search as the room latency takes one.
#pragma once

#include "latency/interpolation/efficiency_curve.hpp"

namespace halmark::tune {

// From the given start and a few Sobol points of the box: tens of milliseconds a curve.
CurveSolver curve_solver();

}  // namespace halmark::tune
