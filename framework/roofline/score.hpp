// The speed-of-light score of SOL-ExecBench: where a time lies between a baseline and the bound.
#pragma once

#include <optional>

namespace halmark {

// S = 1 / (1 + (T - T_sol) / (T_base - T_sol)), of times in ns: 0.5 at the baseline, 1 at the
// bound. Not clamped: a time below the bound is for quarantine. Where the baseline is at the bound
// or below it: 1 for a time that is too, else 0. Nothing where one of them is not above 0.
std::optional<double> speed_of_light_score(double duration_ns, double bound_ns, double baseline_ns);

}  // namespace halmark
