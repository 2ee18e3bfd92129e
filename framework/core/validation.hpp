// Validation: the estimate of one deployment against a run of its whole layer stack.
#pragma once

#include <string>
#include <vector>

#include "core/measurement.hpp"

namespace halmark {

struct Validation {
  std::string deployment_key;
  double predicted_ns = 0, measured_ns = 0;
  Interval predicted_interval_ns, measured_interval_ns;
  Status status = Status::ok;
  std::string reason;
  struct Operator {
    std::string name;
    double predicted_ns = 0, measured_ns = 0;
  };
  std::vector<Operator> operators;
  double relative_error() const { return predicted_ns / measured_ns - 1; }
};

}  // namespace halmark
