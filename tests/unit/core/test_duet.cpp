#include "core/measured/duet.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace halmark {
namespace {

// Pairs alternately `noise` above and below `step`; the first five chose it.
Duet duet(double step, double noise, std::size_t pairs) {
  Duet out{.kernel_case = {},
           .plugin_name = {},
           .old_build = {},
           .new_build = {},
           .log_ratios = {},
           .choosing_pairs = 5};
  for (std::size_t i = 0; i < pairs; ++i) {
    out.log_ratios.push_back(std::log1p(step) + (i % 2 == 0 ? noise : -noise));
  }
  return out;
}

TEST(Duet, what_moved_is_measured_again_from_half_of_the_floor_on) {
  EXPECT_FALSE(wants_more_pairs(duet(0.014, 0, 5), 0.03));
  EXPECT_TRUE(wants_more_pairs(duet(0.016, 0, 5), 0.03));
  EXPECT_TRUE(wants_more_pairs(duet(-0.05, 0, 5), 0.03));
}

TEST(Duet, it_goes_on_while_the_floor_is_within_its_doubt) {
  // Ten pairs so far from their mean that the error of the inner six is a third of a hundredth:
  // sqrt(10 / (6 x 5)) of the distance. t(0.975, 5) = 2.571.
  const double near = 0.01 / std::sqrt(3.0);
  EXPECT_FALSE(wants_more_pairs(duet(0.02, near, 10), 0.03)) << "0.0198 + 2.571 x 0.0033 < ln 1.03";
  EXPECT_TRUE(wants_more_pairs(duet(0.023, near, 10), 0.03)) << "0.0227 + 2.571 x 0.0033 > ln 1.03";
  EXPECT_FALSE(wants_more_pairs(duet(0.017, 3 * near, 10), 0.03)) << "0.0169 < 0.6 ln 1.03";
  EXPECT_TRUE(wants_more_pairs(duet(0.019, 3 * near, 10), 0.03)) << "0.0188 > 0.6 ln 1.03";
  EXPECT_TRUE(wants_more_pairs(duet(0.05, 1e-4, 19), 0.03)) << "however clear";
  EXPECT_FALSE(wants_more_pairs(duet(0.05, 1e-4, 20), 0.03));
  // Of twenty the inner twelve: sqrt(20 / (12 x 11)) = 0.3892; t(1 - 5e-7, 11) = 9.70, from a
  // table.
  EXPECT_TRUE(wants_more_pairs(duet(0.05, 0.0132, 20), 0.03)) << "0.0488 < 9.70 x 0.00514";
  EXPECT_FALSE(wants_more_pairs(duet(0.05, 0.0127, 20), 0.03)) << "0.0488 > 9.70 x 0.00494";
  EXPECT_TRUE(wants_more_pairs(duet(0.05, 0.2, 59), 0.03));
  EXPECT_FALSE(wants_more_pairs(duet(0.05, 0.2, 60), 0.03)) << "at most so many";
}

TEST(Duet, one_pair_that_the_machine_spoilt_does_not_keep_it_going) {
  Duet spoilt = duet(0, 0.001, 10);
  spoilt.log_ratios[7] = 1.3;
  EXPECT_FALSE(wants_more_pairs(spoilt, 0.03));
}

TEST(Duet, what_failed_or_has_no_spread_is_not_measured_again) {
  EXPECT_FALSE(wants_more_pairs(duet(0.1, 0, 2), 0.03));
  Duet failed = duet(0.1, 0, 5);
  failed.status = Status::crashed;
  EXPECT_FALSE(wants_more_pairs(failed, 0.03));
}

}  // namespace
}  // namespace halmark
