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
  // Ten pairs 0.01 from their mean: an error of 0.01 / 3.
  EXPECT_FALSE(wants_more_pairs(duet(0.05, 0.01, 10), 0.03)) << "it moved";
  EXPECT_FALSE(wants_more_pairs(duet(0.02, 0.01, 10), 0.03)) << "0.0198 + 2.3 x 0.0033 < ln 1.03";
  EXPECT_TRUE(wants_more_pairs(duet(0.025, 0.01, 10), 0.03)) << "0.0247 + 2.3 x 0.0033 > ln 1.03";
  EXPECT_FALSE(wants_more_pairs(duet(0.017, 0.03, 10), 0.03)) << "0.0169 < 0.6 ln 1.03";
  EXPECT_TRUE(wants_more_pairs(duet(0.019, 0.03, 10), 0.03)) << "0.0188 > 0.6 ln 1.03";
  EXPECT_TRUE(wants_more_pairs(duet(0.05, 0.032, 10), 0.03)) << "0.0488 < 5 x 0.0107";
  EXPECT_FALSE(wants_more_pairs(duet(0.05, 0.028, 10), 0.03)) << "0.0488 > 5 x 0.0093";
  EXPECT_TRUE(wants_more_pairs(duet(0.05, 0.2, 59), 0.03));
  EXPECT_FALSE(wants_more_pairs(duet(0.05, 0.2, 60), 0.03)) << "at most so many";
}

TEST(Duet, what_failed_or_has_no_spread_is_not_measured_again) {
  EXPECT_FALSE(wants_more_pairs(duet(0.1, 0, 2), 0.03));
  Duet failed = duet(0.1, 0, 5);
  failed.status = Status::crashed;
  EXPECT_FALSE(wants_more_pairs(failed, 0.03));
}

}  // namespace
}  // namespace halmark
