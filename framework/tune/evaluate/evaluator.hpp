// What the one loop asks of whoever knows times: figures of configurations. Measured, priced and
// served sweeps differ in their evaluator alone.
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"

namespace halmark::tune {

// When a configuration was evaluated, by the system's clock.
struct TrialTime {
  std::chrono::system_clock::time_point began, ended;
};
using TrialTimes = std::map<std::string, TrialTime>;  // by key of the configuration

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // One evaluation for each configuration, in their order. What is impossible, does not fit or
  // could not be measured has a status and a reason in place of figures. They are given together so
  // that what they need can be measured together.
  virtual std::vector<Evaluation> evaluate(std::span<const Configuration> configurations) = 0;
  // When each of the configurations of the last call was evaluated, in their order; empty where
  // they were evaluated together.
  virtual std::vector<TrialTime> times() const { return {}; }
};

}  // namespace halmark::tune
