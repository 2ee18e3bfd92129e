// How `halmark trace` shows an attribution and a comparison to people.
#pragma once

#include <string>

#include "profile/comparison/model_comparison.hpp"
#include "profile/comparison/step_prediction.hpp"

namespace halmark::cli {

std::string trace_text(const trace::Recording& recording, const trace::Attribution& attribution,
                       const trace::TraceView& view);

std::string comparison_text(const trace::Comparison& comparison);

std::string prediction_text(const trace::TracedStep& step, const trace::StepPrediction& prediction);

}  // namespace halmark::cli
