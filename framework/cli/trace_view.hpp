// How `halmark trace` shows an attribution and a comparison to people.
#pragma once

#include <string>

#include "profile/comparison/model_comparison.hpp"

namespace halmark::cli {

std::string trace_text(const trace::Recording& recording, const trace::Attribution& attribution,
                       const trace::TraceView& view);

std::string comparison_text(const trace::Comparison& comparison);

}  // namespace halmark::cli
