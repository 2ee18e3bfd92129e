// A plan as `halmark tune --plan` prints it.
#pragma once

#include <string>

#include "core/json/json.hpp"
#include "tune/plan/plan.hpp"

namespace halmark::cli {

std::string plan_report(const tune::TunePlan& plan);
Json plan_json(const tune::TunePlan& plan);

}  // namespace halmark::cli
