// The rank sum of two samples: moved by how many values changed sides, not by how far.
#pragma once

#include <span>

namespace halmark::history {

// Two-sided p of the rank sum test of Wilcoxon, Mann and Whitney (1947): exact where
// no values are equal and the samples small, else the normal approximation with the correction for
// ties, without that for continuity; 1 where a sample is empty or all are equal.
double rank_sum_p(std::span<const double> a, std::span<const double> b);

}  // namespace halmark::history
