// What a search in which nothing fits is told beside that.
#pragma once

#include <string>

#include "report/served_report.hpp"
#include "tune/evaluate/served_evaluator.hpp"
#include "tune/plan/plan.hpp"

namespace halmark::tune {

// "fp8 fits from 4 devices (tp4), bf16 from 8 devices (tp8)": of each precision that fits nowhere,
// or where some fit of those that do not on any number of devices that was tried, the fewest of
// such devices, by doubling, that hold the least load of those that the report tried. "" where none
// do, within what their links reach.
std::string least_that_fits(const TunePlan& plan, ServedEvaluator& evaluator,
                            const ServedReport& report);

}  // namespace halmark::tune
