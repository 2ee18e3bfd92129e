// What `halmark trace --predict` prints of a step.
#pragma once

#include <string>

#include "profile/comparison/step_prediction.hpp"

namespace halmark::pages {

// `width`: terminal columns.
std::string prediction_text(const trace::TracedStep& step, const trace::StepPrediction& prediction,
                            int width);

}  // namespace halmark::pages
