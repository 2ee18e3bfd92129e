// What the one loop asks of whoever knows times: figures of configurations. Measured, priced and
// served sweeps differ in their evaluator alone.
#pragma once

#include <span>
#include <vector>

#include "core/chosen/configuration.hpp"

namespace halmark::tune {

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // One evaluation for each configuration, in their order. What is impossible, does not fit or
  // could not be measured has a status and a reason in place of figures. They are given together so
  // that what they need can be measured together.
  virtual std::vector<Evaluation> evaluate(std::span<const Configuration> configurations) = 0;
};

}  // namespace halmark::tune
