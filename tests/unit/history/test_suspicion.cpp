#include "history/suspicion.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace halmark::history {
namespace {

// Nights alternately `noise` above and below 1 us, and a last one that is `step` off.
SeriesHistory nights(double noise, double step, int before = 10) {
  SeriesHistory out;
  for (int i = 0; i < before; ++i) {
    const double ns = 1000 * std::exp(i % 2 == 0 ? noise : -noise);
    out.nights.push_back({.run = i + 1, .ns = ns, .adjusted_ns = ns});
  }
  const double ns = 1000 * std::exp(step);
  out.nights.push_back({.run = before + 1, .ns = ns, .adjusted_ns = ns});
  return out;
}

TEST(Suspicion, grows_with_the_step_and_falls_with_the_noise) {
  EXPECT_GT(suspicion_of(nights(0.005, 0.05)), suspicion_of(nights(0.005, 0.03)));
  EXPECT_GT(suspicion_of(nights(0.005, 0.05)), suspicion_of(nights(0.02, 0.05)));
  EXPECT_GT(suspicion_of(nights(0.005, -0.05)), suspicion_of(nights(0.005, 0)));
  // Far off, but so it often was; near, and it never was.
  EXPECT_GT(suspicion_of(nights(0.004, 0.04)), suspicion_of(nights(0.2, 0.3)));
}

// By hand: nights whose differences are all 0.02 have a noise of 1.4826 x 0.02 / sqrt(2) =
// 0.020967. ln(N(0.06; 0, s^2 + 0.05^2) / N(0.06; 0, s^2)), s^2 = 4.3962e-4: 0.5 ln(0.149549)
// + 4.0945 x 0.850451 = 2.5321. The night before was 0.01 lower: step 0.07, s^2 twice that, 1.3883.
TEST(Suspicion, is_a_bayes_factor) { EXPECT_NEAR(suspicion_of(nights(0.01, 0.06)), 2.5321, 1e-3); }

TEST(Suspicion, sees_a_repair_after_one_bad_night) {
  SeriesHistory repaired = nights(0.005, 0.2);
  repaired.nights.push_back({.run = 12, .ns = 1000, .adjusted_ns = 1000});
  SeriesHistory same = nights(0.005, 0);
  same.nights.push_back({.run = 12, .ns = 1000, .adjusted_ns = 1000});
  EXPECT_GT(suspicion_of(repaired), 10 + suspicion_of(same));
}

TEST(Suspicion, needs_a_night_before) { EXPECT_EQ(suspicion_of(nights(0, 0.5, 0)), 0); }

// ln N(0.06; 0, s^2 + 0.05^2) - ln N(0.06; 0, s^2): of few nights s is 0.03, and 0.5 ln(9/34) +
// 0.0018 (1/0.0009 - 1/0.0034) = 0.8060; of five equal ones 0.003, and 196.4674.
TEST(Suspicion, knows_the_noise_of_five_nights_and_takes_three_percent_before) {
  EXPECT_NEAR(suspicion_of(nights(0, 0.06, 4)), 0.8060202617, 1e-9);
  EXPECT_NEAR(suspicion_of(nights(0, 0.06, 5)), 196.4673752178, 1e-7);
}

// Against the one night before, s is 0.03 too: 0.8060 as above. Nights at 0 and 0.08 before one at
// 0: 0.04 from their median, -0.0110; 0.08 from the last, s^2 = 0.0018: 0.5 ln(18/43) + 0.0032
// (1/0.0018
// - 1/0.0043) = -0.435429 + 1.033592.
TEST(Suspicion, of_two_nights_and_of_a_step_from_the_last_one) {
  EXPECT_NEAR(suspicion_of(nights(0, 0.06, 1)), 0.8060202617, 1e-9);
  SeriesHistory back = nights(0, 0.08, 1);
  back.nights.push_back({.run = 3, .ns = 1000, .adjusted_ns = 1000});
  EXPECT_NEAR(suspicion_of(back), 0.598163, 1e-4);
}

}  // namespace
}  // namespace halmark::history
