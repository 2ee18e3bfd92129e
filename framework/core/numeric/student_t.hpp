// Student's t distribution.
#pragma once

namespace halmark {

// P(|T| >= |t|) with `freedom` > 0 degrees of freedom, which need not be whole; NaN of what is no
// number.
double t_two_sided_p(double t, double freedom);

// The t > 0 with t_two_sided_p(t, freedom) == p, for p in (0, 1).
double t_critical(double p, double freedom);

}  // namespace halmark
