// Confronts front points with a run of their whole stack.
#pragma once

#include "cli/tune_measure.hpp"

namespace halmark::cli {

// Validates `points` of the front (0 = all) within the budget; stored ones are not run again.
// The kernels that carry a step are measured again right before and right after its run: what is
// compared is composing, not what the machine's neighbours did in between.
void validate_front(const TunePlan& plan, const TuneContext& context, TuneRun& run,
                    std::int64_t points, double budget_s);

}  // namespace halmark::cli
