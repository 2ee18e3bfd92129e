// A training step on paper as text: passes, memory of the fullest rank, gradients on the way.
#pragma once

#include <string>

#include "model/step/priced_step.hpp"

namespace halmark::tune {

std::string training_text(const PricedStep& step);  // of phase training

}  // namespace halmark::tune
