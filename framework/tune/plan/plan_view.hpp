// A plan as `halmark tune --plan` shows it: what may be measured or priced, and what that takes.
#pragma once

#include "report/views/view.hpp"
#include "tune/plan/plan.hpp"

namespace halmark::tune {

report::View plan_view(const TunePlan& plan);

}  // namespace halmark::tune
