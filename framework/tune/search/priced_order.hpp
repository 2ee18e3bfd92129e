// In which order a measured sweep tries what it can price beforehand.
#pragma once

#include <vector>

#include "tune/evaluate/first_peaks.hpp"
#include "tune/plan/composers.hpp"
#include "tune/problem/problem.hpp"

namespace halmark::tune {

// The possible points of a problem, each step at its bound: front by front of the bounds, and
// within one the best of each objective in turn. Then those that are impossible. Empty where an
// objective has no bound, or no step.
std::vector<Point> priced_order(const TuneProblem& problem, Composers& composers,
                                const FirstPeaks& peaks);

}  // namespace halmark::tune
