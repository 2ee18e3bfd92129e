// A step on a device with other ceilings: what more bandwidth would do.
#pragma once

#include <string>
#include <vector>

#include "model/step/priced_step.hpp"

namespace halmark {

struct Ceilings {
  double peak = 1, bandwidth = 1, link = 1;  // factors
};

// Operators keep their share of their bound, t x b' / b; where a bound is all that is known, they
// lose what it does. Intervals also hold that what an operator loses to its bound stays as it is,
// t - (b - b'). Throws Error (exit 2) for a step without a device and a measured one.
PricedStep with_ceilings(const PricedStep& step, const Ceilings& factors,
                         std::vector<std::string> changes);

}  // namespace halmark
