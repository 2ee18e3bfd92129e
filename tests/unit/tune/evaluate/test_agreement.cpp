// Agreement of repeats: intervals against simulated processes of a known spread, folds against rows
// counted by hand.
#include "tune/evaluate/agreement/agreement.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/numeric/random.hpp"
#include "kernels/contract.hpp"

namespace halmark::tune {
namespace {

// Normal deviates from pairs of uniform ones (Box and Muller).
double deviate(std::uint64_t i) {
  const double u = 1 - uniform_01(hash_u64(7, 2 * i)), v = uniform_01(hash_u64(7, 2 * i + 1));
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

TEST(CompareRepeats, intervals_of_90_percent_cover_zero_90_percent_of_the_time) {
  for (const int processes : {2, 3, 6}) {
    constexpr int pairs = 4000;
    int agreeing = 0;
    std::uint64_t drawn = 0;
    for (int i = 0; i < pairs; ++i) {
      std::vector<double> sides[2];
      for (auto& side : sides) {
        for (int p = 0; p < processes; ++p) side.push_back(1e5 * std::exp(0.04 * deviate(drawn++)));
      }
      agreeing += compare_repeats(sides[0], sides[1]).agrees() ? 1 : 0;
    }
    // Four standard deviations of a share of 4,000.
    EXPECT_NEAR(agreeing / double{pairs}, 0.90, 0.019) << processes;
  }
}

// By hand: logarithms 0 and 2 on one side, 3 and 5 on the other; pooled variance 2, t(2) = 2.920.
TEST(CompareRepeats, is_student_of_logarithms) {
  const std::vector<double> first = {1, std::exp(2.0)}, second = {std::exp(3.0), std::exp(5.0)};
  const RepeatPair pair = compare_repeats(first, second);
  EXPECT_NEAR(pair.difference, 3, 1e-12);
  EXPECT_NEAR(pair.spread, std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(pair.half_width, 2.920 * std::sqrt(2.0), 1e-12);
  EXPECT_TRUE(pair.agrees());
  EXPECT_NEAR(compare_repeats(second, first).difference, -3, 1e-12);
  const std::vector<double> far = {std::exp(10.0), std::exp(12.0)};
  EXPECT_FALSE(compare_repeats(first, far).agrees());
  EXPECT_FALSE(compare_repeats(far, first).agrees()) << "either side may be the slower one";
}

KernelCase copy_of(std::int64_t bytes) {
  KernelCase out;
  out.problem = complete_problem({"copy", {{"bytes", bytes}}});
  return out;
}

Measurement row(const KernelCase& kernel_case, int round, double ns, Status status = Status::ok) {
  Measurement m;
  m.kernel_case = kernel_case;
  m.round = round;
  m.status = status;
  m.duration_ns_median = ns;
  m.samples = {{.wall_ns = ns, .cpu_ns = ns, .label = SampleLabel::clean}};
  return m;
}

TEST(AgreementOf, pairs_alternate_and_rows_that_are_not_ok_take_no_part) {
  const std::vector<KernelCase> cases = {copy_of(64), copy_of(128)};
  std::vector<Measurement> rows;
  // Two processes a repeat: rounds 0 and 2 against 1 and 3, then 4 and 6 against 5 and 7.
  const double times[] = {100, 101, 102, 103, 100, 200, 101, 201};
  for (int r = 0; r < 8; ++r) {
    rows.push_back(row(cases[0], r, times[r]));
    rows.push_back(row(cases[1], r, 50, r == 5 ? Status::suspect : Status::ok));
  }
  rows.push_back(row(cases[0], 8, 100));  // of a pair that was not finished
  const Agreement a = agreement_of(cases, rows, 2);
  ASSERT_EQ(a.cases.size(), 2u);
  EXPECT_EQ(a.cases[0].pairs, 2);
  EXPECT_EQ(a.cases[0].agreeing, 1) << "twice as slow is no agreement";
  EXPECT_EQ(a.cases[0].rows, 8);
  EXPECT_EQ(a.cases[0].ok_rows, 8);
  EXPECT_EQ(a.cases[1].pairs, 1);
  EXPECT_EQ(a.cases[1].left_out, 1);
  EXPECT_EQ(a.cases[1].agreeing, 1);
  EXPECT_EQ(a.cases[1].ok_rows, 7);
  EXPECT_EQ(a.cases[1].median_ns, 50);
  EXPECT_EQ(a.pairs(), 3);
  EXPECT_EQ(a.agreeing(), 2);
  EXPECT_DOUBLE_EQ(a.share(), 2.0 / 3);
}

// Wilson: 90 of 100 gives 0.8256 .. 0.9448 (Newcombe 1998, method 3).
TEST(Agreement, its_share_has_an_interval) {
  const Agreement a{.cases = {{.pairs = 60, .agreeing = 55}, {.pairs = 40, .agreeing = 35}}};
  EXPECT_NEAR(a.interval().low, 0.8256, 1e-4);
  EXPECT_NEAR(a.interval().high, 0.9448, 1e-4);
  EXPECT_EQ(Agreement{}.share(), 0);
  EXPECT_EQ(Agreement{}.interval().high, 1);
}

// All processes of a pair alike but for a spread of s: the half width with n processes a side is
// t(2n - 2) s sqrt(2 / n), which 3 % have to hold for n proposed and not for n - 1.
TEST(AgreementOf, proposes_the_fewest_rounds_that_bound_a_difference_by_three_percent) {
  const double t[] = {0, 0, 2.920, 2.132, 1.943, 1.860, 1.812, 1.782, 1.761, 1.746};
  const auto proposed = [](double spread) {
    const std::vector<KernelCase> cases = {copy_of(64)};
    std::vector<Measurement> rows;
    for (int r = 0; r < 4; ++r) {
      // Each side has logarithms +-x: its squares are 2 x^2, the pooled variance is 2 x^2.
      const double x = (r < 2 ? -1 : 1) * spread / std::numbers::sqrt2;
      rows.push_back(row(cases[0], r, 1000 * std::exp(x)));
    }
    return agreement_of(cases, rows, 2).limits.rounds.value_or(0);
  };
  for (int n = 3; n <= 9; ++n) {
    const double widest = 0.03 / (t[n] * std::sqrt(2.0 / n));
    EXPECT_EQ(proposed(0.99 * widest), n);
    EXPECT_EQ(proposed(1.01 * widest), std::min(n + 1, 9));
  }
}

// A limit is what 99 of 100 rows that did not move stay below, and a tenth; between the default and
// twice that; nothing from fewer than 100 rows.
TEST(AgreementOf, proposes_limits_from_rows_that_did_not_move) {
  const auto clock_limit = [](int rows_of_a_case, double moved, double others_moved) {
    const std::vector<KernelCase> cases = {copy_of(64)};
    std::vector<Measurement> rows;
    for (int r = 0; r < rows_of_a_case; ++r) {
      const bool is_moved = r % 4 == 3;  // by 20 %: its signals say nothing about quiet rows
      Measurement m = row(cases[0], r, is_moved ? 1200 : 1000);
      m.clock_hz_before = 1e9;
      m.clock_hz_after = 1e9 * (1 - (is_moved ? others_moved : moved));
      rows.push_back(m);
    }
    return agreement_of(cases, rows, 2).limits.clock_moved;
  };
  const double usual = ValidityThresholds{}.clock_moved.suspect;
  EXPECT_NEAR(clock_limit(200, 1.2 * usual, 0.5).value(), 1.1 * 1.2 * usual, 1e-6);
  EXPECT_EQ(clock_limit(200, 0.1 * usual, 0.5), usual);
  EXPECT_EQ(clock_limit(200, 5 * usual, 0.5), 2 * usual);
  EXPECT_FALSE(clock_limit(100, usual, usual)) << "75 rows did not move";
}

TEST(ThresholdsOf, scale_both_limits_and_leave_the_rest) {
  const ValidityThresholds usual;
  const ValidityThresholds out = thresholds_of({.steal_fraction = 0.03, .peak_moved = 0.06});
  EXPECT_EQ(out.peak_moved.suspect, 0.06);
  EXPECT_DOUBLE_EQ(out.peak_moved.invalid, usual.peak_moved.invalid * 2);
  EXPECT_EQ(out.steal_fraction.suspect, 0.03);
  EXPECT_EQ(out.clock_moved.suspect, usual.clock_moved.suspect);
  EXPECT_EQ(out.clock_moved.invalid, usual.clock_moved.invalid);
  const ValidityThresholds all = thresholds_of({.disturbed_samples = 0.11,
                                                .run_delay_fraction = 0.12,
                                                .involuntary_switches_per_s = 13,
                                                .clock_moved = 0.14,
                                                .bandwidth_moved = 0.15});
  EXPECT_EQ(all.disturbed_samples.suspect, 0.11);
  EXPECT_EQ(all.run_delay_fraction.suspect, 0.12);
  EXPECT_EQ(all.involuntary_switches_per_s.suspect, 13);
  EXPECT_EQ(all.clock_moved.suspect, 0.14);
  EXPECT_EQ(all.bandwidth_moved.suspect, 0.15);
}

}  // namespace
}  // namespace halmark::tune
