// Terms of engines as they were fitted to published measurements: data with their source.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "simulate/serving/terms_fit.hpp"

namespace halmark::serving {

struct FittedTerms {
  std::string_view engine;  // "trtllm", "vllm"
  std::string_view model;   // id; "" = of all its series, for models without one of their own
  SeriesTerms series;
  Ratios ttft, tpot;
  std::string_view points;  // "92 points of 26 curves, release 1.0.0rc3"
};

std::span<const FittedTerms> all_fitted_terms();
// Of the engine with the model, else of the engine. Throws Error (exit 2) with the known engines.
const FittedTerms& fitted_terms(std::string_view engine, std::string_view model);
// What they were fitted on, as a report says it.
std::string source_text(const FittedTerms& terms);

// Requests of a closed loop that the cache holds at a time in steady state, the setting included:
// each has its prompt and on average half of its output, or all of it where that is reserved.
std::int64_t requests_held(const EnginePlan& plan, const RequestShape& shape);

}  // namespace halmark::serving
