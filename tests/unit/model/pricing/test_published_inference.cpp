// No figure that somebody printed is quarantined at the precision that they state, and the bound is
// not far from the best of them.
#include <gtest/gtest.h>

#include "tests/unit/model/pricing/published_rows.hpp"

namespace halmark {
namespace {

TEST(PublishedInference, no_bound_of_the_program_is_above_a_measurement) {
  const published::Checks checks = published::inference_checks();
  ASSERT_GE(checks.all.size(), 150u);
  for (const published::Check& check : checks.all) {
    EXPECT_LE(check.bound, 1) << check.row;
    EXPECT_GT(check.bound, 0) << check.row;
    EXPECT_GT(check.floor, 0) << check.row;
  }
  const published::Check& closest = checks.closest();
  EXPECT_GT(closest.bound, 0.6) << "a bound that is far from everything says nothing";
}

}  // namespace
}  // namespace halmark
