// Student's t distribution.
#pragma once

namespace halmark {

// P(|T| >= |t|) with `freedom` > 0 degrees of freedom, which need not be whole: the regularised
// incomplete beta function I_{f/(f+t^2)}(f/2, 1/2) (DLMF 8.17). Relative error below 1e-10.
double t_two_sided_p(double t, double freedom);

// The t > 0 with t_two_sided_p(t, freedom) == p, for p in (0, 1).
double t_critical(double p, double freedom);

}  // namespace halmark
