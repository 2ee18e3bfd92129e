// What a search in which nothing fits is told beside that.
#pragma once

#include <string>

#include "report/served_report.hpp"
#include "tune/evaluate/served_evaluator.hpp"
#include "tune/plan/plan.hpp"

namespace halmark::tune {

// "4 devices: x1 t2048 fp8 tp4": the fewest of such devices, by doubling, that hold the least load
// of those that the report tried. "" where none do, within what their links reach.
std::string least_that_fits(const TunePlan& plan, ServedEvaluator& evaluator,
                            const ServedReport& report);

}  // namespace halmark::tune
