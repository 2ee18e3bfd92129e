#include <gtest/gtest.h>

#include <cmath>

#include "history/statistics/machine_effect.hpp"
#include "history/suspicion.hpp"
#include "rows.hpp"

namespace halmark::history {
namespace {

// Rows whose memory changes between two regimes every fourth row, with probes that scatter by 4 %.
std::vector<SeriesRow> rows_with(double share, double step, std::size_t step_at) {
  std::vector<SeriesRow> out;
  for (std::size_t i = 0; i < 120; ++i) {
    const double speed = (i / 4) % 2 == 0 ? 8e10 : 4.5e10;
    const double code = i < step_at ? 1 : 1 + step;
    const double ns =
        100 * code * std::pow(8e10 / speed, share) * std::exp(0.01 * test::normal(11, i));
    out.push_back(test::row(static_cast<std::int64_t>(i / 3), 0, ns));
    out.back().state.bytes_per_s = speed * std::exp(0.04 * test::normal(12, i));
  }
  return out;
}

TEST(MachineEffect, finds_how_far_a_series_follows_the_memory) {
  for (const double share : {0.0, 0.3, 0.7, 1.0}) {
    EXPECT_NEAR(machine_effect(rows_with(share, 0, 0)).memory_share, share, 0.05) << share;
  }
}

TEST(MachineEffect, a_step_of_the_code_does_not_disturb_it) {
  EXPECT_NEAR(machine_effect(rows_with(0.7, 0.5, 61)).memory_share, 0.7, 0.05);
}

TEST(MachineEffect, says_nothing_without_regimes_or_probes) {
  std::vector<SeriesRow> calm;
  for (std::size_t i = 0; i < 50; ++i) {
    calm.push_back(test::row(1, 0, 100 + static_cast<double>(i)));
    calm.back().state.bytes_per_s = 5e10 * std::exp(0.03 * test::normal(1, i));
  }
  EXPECT_EQ(machine_effect(calm).memory_share, 0);
  for (SeriesRow& row : calm) row.state.bytes_per_s.reset();
  EXPECT_EQ(machine_effect(calm).moves, 0);
  EXPECT_EQ(machine_effect({}).moves, 0);
}

TEST(MachineEffect, probes_of_one_regime_become_one_figure) {
  const std::vector<SeriesRow> rows = rows_with(0, 0, 0);
  double widest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double truth = (i / 4) % 2 == 0 ? 8e10 : 4.5e10;
    widest = std::max(widest, std::abs(*regimes_of(rows)[i] - std::log(truth)));
  }
  EXPECT_LT(widest, 0.03);  // single probes are up to 0.1 off
}

// Rows that change between two speeds of the memory each time, without noise.
std::vector<SeriesRow> alternating(std::size_t count, double share, double ln_of_speeds) {
  std::vector<SeriesRow> out;
  for (std::size_t i = 0; i < count; ++i) {
    const double slower = i % 2 == 0 ? 0 : ln_of_speeds;
    out.push_back(test::row(static_cast<std::int64_t>(i), 0, 100 * std::exp(share * slower)));
    out.back().state.bytes_per_s = 8e10 * std::exp(-slower);
  }
  return out;
}

TEST(MachineEffect, rests_on_five_moves_and_is_at_most_a_little_more_than_all) {
  EXPECT_EQ(machine_effect(alternating(5, 0.7, 0.5)).moves, 4);
  EXPECT_EQ(machine_effect(alternating(5, 0.7, 0.5)).memory_share, 0);
  EXPECT_EQ(machine_effect(alternating(6, 0.7, 0.5)).moves, 5);
  EXPECT_NEAR(machine_effect(alternating(6, 0.7, 0.5)).memory_share, 0.7, 1e-9);
  EXPECT_NEAR(machine_effect(alternating(6, 1.15, 0.5)).memory_share, 1.15, 1e-9);
  EXPECT_EQ(machine_effect(alternating(6, 1.5, 0.5)).memory_share, 1.2);
  EXPECT_EQ(machine_effect(alternating(6, -0.5, 0.5)).memory_share, 0);
}

TEST(MachineEffect, speeds_within_a_tenth_are_one_regime) {
  EXPECT_EQ(machine_effect(alternating(20, 0.7, 0.09)).moves, 0);
  EXPECT_EQ(machine_effect(alternating(20, 0.7, 0.11)).moves, 19);
}

// Slopes of -0.2, 0.5 and 1 with the weights of their moves: the middle one by weight.
TEST(MachineEffect, weighs_moves_by_their_size) {
  std::vector<SeriesRow> rows;
  double time = 0, speed = 0;
  const auto move = [&](double dx, double share) {
    speed += dx;
    time -= share * dx;
    rows.push_back(test::row(static_cast<std::int64_t>(rows.size()), 0, 100 * std::exp(time)));
    rows.back().state.bytes_per_s = 1e10 * std::exp(speed);
  };
  move(0, 0);
  for (int i = 0; i < 4; ++i) move(i % 2 == 0 ? 0.3 : -0.3, 1);
  EXPECT_EQ(machine_effect(rows).memory_share, 0) << "four moves say nothing";
  move(2, 0.5);
  EXPECT_NEAR(machine_effect(rows).memory_share, 0.5, 1e-9) << "2 against 4 x 0.3";
  for (int i = 0; i < 3; ++i) move(i % 2 == 0 ? -0.3 : 0.3, 1);
  EXPECT_NEAR(machine_effect(rows).memory_share, 1, 1e-9) << "2 against 7 x 0.3";
}

// A row without a probe is passed over, as is one that does not count.
TEST(MachineEffect, moves_are_between_neighbours_that_have_a_probe) {
  std::vector<SeriesRow> rows = alternating(7, 0.7, 0.5);
  rows[2].state.bytes_per_s.reset();
  rows[4].fault = "crashed";
  rows[4].ns = 0;
  const MachineEffect effect = machine_effect(rows);
  EXPECT_EQ(effect.moves, 2) << "0 to 1 and 5 to 6: 1, 3 and 5 are of one regime";
  EXPECT_FALSE(regimes_of(rows)[2]);
  EXPECT_FALSE(regimes_of(rows)[4]);
  EXPECT_NEAR(*regimes_of(rows)[5], std::log(8e10) - 0.5, 1e-12);
}

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
