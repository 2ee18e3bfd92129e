// What onboarding will do, and what came of it, for people and programs.
#pragma once

#include "onboard/onboard.hpp"
#include "report/views/view.hpp"

namespace halmark::onboard {

report::View plan_view(const Plan& plan);

Json outcome_json(const Plan& plan, const Outcome& outcome);
report::View outcome_view(const Plan& plan, const Outcome& outcome);

// What may be believed, in sentences, a line each.
std::vector<std::string> sentences(const Plan& plan, const Outcome& outcome);

}  // namespace halmark::onboard
