#include "simulate/sharding/calibration.hpp"

#include <cmath>
#include <utility>

#include "core/numeric/student_t.hpp"

namespace halmark::simulate {

Calibration calibrate(std::span<const PredictedMeasured> pairs) {
  std::vector<double> logs;
  for (const PredictedMeasured& pair : pairs) {
    if (pair.predicted_ns > 0 && pair.measured_ns > 0) {
      logs.push_back(std::log(pair.measured_ns / pair.predicted_ns));
    }
  }
  Calibration out{.pairs = logs.size(), .factor = 1, .interval = std::nullopt};
  if (!out.is_applied()) return out;
  const double middle = mean(logs);
  double squares = 0;
  for (const double l : logs) squares += (l - middle) * (l - middle);
  const auto n = static_cast<double>(logs.size());
  const double half = t_critical(0.05, n - 1) * std::sqrt(squares / (n - 1) / n);
  out.factor = std::exp(middle);
  out.interval = Interval{std::exp(middle - half), std::exp(middle + half)};
  return out;
}

OperatorTime corrected(OperatorTime time, const StepCalibration& by) {
  return [time = std::move(time), by](const Operator& op) -> std::optional<double> {
    const std::optional<double> ns = time(op);
    if (!ns) return std::nullopt;
    const bool is_exchange = op.kind == OperatorKind::collective;
    return *ns * (is_exchange ? by.communication.factor : by.compute.factor);
  };
}

}  // namespace halmark::simulate
