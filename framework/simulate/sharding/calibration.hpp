// What measured steps say of predicted ones: a factor per kind of time, with its interval.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/numeric/statistics.hpp"
#include "simulate/sharding/step_cost.hpp"

namespace halmark::simulate {

struct PredictedMeasured {
  double predicted_ns = 0, measured_ns = 0;
};

struct Calibration {
  static constexpr std::size_t pairs_min = 3;
  std::size_t pairs = 0;
  double factor = 1;  // measured over predicted: geometric mean; 1 with fewer pairs than pairs_min
  std::optional<Interval> interval;  // of the mean, 95 %, Student's t over logarithms
  bool is_applied() const { return pairs >= pairs_min; }
};

// Pairs with a time that is not above zero do not count.
Calibration calibrate(std::span<const PredictedMeasured> pairs);

struct StepCalibration {
  Calibration compute, communication;
};

// `time`, each kind multiplied by its factor.
OperatorTime corrected(OperatorTime time, const StepCalibration& by);

}  // namespace halmark::simulate
