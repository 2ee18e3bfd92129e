// What a night's changes of kernels mean for steps and for the front.
#pragma once

#include <string>
#include <vector>

#include "core/json/json_type.hpp"
#include "history/step_changes.hpp"

namespace halmark::history {

// One line each: steps split over their operators, kernels over the steps that have them, and what
// it costs the front. Empty where no step changed.
std::vector<std::string> step_change_lines(const ChangedSteps& changed);
// {"steps", "front"}
Json step_changes_json(const ChangedSteps& changed);

}  // namespace halmark::history
