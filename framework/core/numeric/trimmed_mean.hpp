// A mean that a few outliers do not move, and how sure it is.
#pragma once

#include <span>

namespace halmark {

struct TrimmedMean {
  double value = 0;
  double error = 0;    // standard error; 0 where all values are equal, infinite of a single one
  double freedom = 0;  // of Student's t: one less than the values that were kept
};

// Mean without the lowest and the highest fifth; error from the winsorized spread (Yuen 1974, "The
// two-sample trimmed t for unequal population variances", for one sample). At least one value; of
// up to four none is left out.
TrimmedMean trimmed_mean(std::span<const double> values);

}  // namespace halmark
