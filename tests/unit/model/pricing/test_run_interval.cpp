// The interval of a run: doubts of independent kernels average out, the state of the memory does
// not.
// Redraws against the exact distribution of the median of three draws from three values.
// No figure that somebody printed is quarantined at the precision that they state, and the bound is
// not far from the best of them.
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <vector>

#include "model/pricing/redraw.hpp"
#include "model/pricing/run_interval.hpp"
#include "tests/unit/model/pricing/published_rows.hpp"

namespace halmark {
namespace {

Latency latency(double ns, double half_ns, Limiter limiter, std::optional<double> bytes_per_s) {
  return {.ns = ns,
          .low_ns = ns - half_ns,
          .high_ns = ns + half_ns,
          .limiter = limiter,
          .provenance = Provenance::measured,
          .bytes_per_s = bytes_per_s};
}

// One stage in which kernel i is executed counts[i] times.
StepSum step_of(const std::vector<double>& counts) {
  StepSum out;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    out.terms.push_back({static_cast<std::int32_t>(i), counts[i]});
  }
  out.end_stage();
  return out;
}

double half_width(const StateInterval& interval) {
  return (interval.ns.high - interval.ns.low) / 2 / interval.step_ns;
}

std::optional<StateInterval> interval_of(const std::vector<double>& counts,
                                         const std::vector<std::optional<Latency>>& latencies) {
  return run_interval(step_of(counts), 0, latencies);
}

TEST(RunInterval, doubts_of_many_kernels_average_out) {
  // 20 % of doubt each, computing only: one kernel keeps it, sixteen alike are left with a quarter.
  const Latency doubtful = latency(100, 20, Limiter::compute, 40e9);
  const auto one = interval_of({1}, {doubtful});
  const auto many =
      interval_of(std::vector<double>(16, 1), std::vector<std::optional<Latency>>(16, doubtful));
  ASSERT_TRUE(one && many);
  EXPECT_GT(half_width(*one), 0.2);
  EXPECT_LT(half_width(*one), 0.22);
  EXPECT_GT(half_width(*many), 0.05);
  EXPECT_LT(half_width(*many), 0.07);
}

TEST(RunInterval, executions_of_one_kernel_share_its_doubt) {
  const auto interval = interval_of({16}, {latency(100, 20, Limiter::compute, 40e9)});
  ASSERT_TRUE(interval);
  EXPECT_GT(half_width(*interval), 0.2);
}

TEST(RunInterval, a_tenth_of_the_memory_s_speed_is_a_twentieth_of_what_waits_for_it) {
  const auto waiting = interval_of({4}, {latency(100, 0, Limiter::memory, 40e9)});
  const auto computing = interval_of({4}, {latency(100, 0, Limiter::compute, 40e9)});
  const auto half = interval_of(
      {2, 2}, {latency(100, 0, Limiter::memory, 40e9), latency(100, 0, Limiter::compute, 40e9)});
  ASSERT_TRUE(waiting && computing && half);
  const double beside = half_width(*computing);  // what sums differ from runs by
  EXPECT_GT(beside, 0.02);
  EXPECT_LT(beside, 0.06);
  EXPECT_NEAR(std::pow(half_width(*waiting), 2) - std::pow(beside, 2), 0.05 * 0.05, 1e-12);
  EXPECT_NEAR(std::pow(half_width(*half), 2) - std::pow(beside, 2), 0.025 * 0.025, 1e-12);
  EXPECT_DOUBLE_EQ(waiting->memory_ns, 400);
  EXPECT_DOUBLE_EQ(computing->memory_ns, 0);
  EXPECT_DOUBLE_EQ(half->memory_ns, 200);
}

TEST(RunInterval, names_the_state_that_most_of_the_waiting_time_was_measured_in) {
  const auto interval = interval_of(
      {10, 1, 1}, {latency(100, 1, Limiter::memory, 40e9), latency(100, 1, Limiter::memory, 70e9),
                   latency(5000, 1, Limiter::compute, 20e9)});
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->state.bytes_per_s, 40e9);
  EXPECT_DOUBLE_EQ(interval->step_ns, 1000 + 100 + 5000);
}

TEST(RunInterval, names_how_fast_the_cores_were_for_most_of_what_waits_for_them) {
  Latency slow = latency(100, 0, Limiter::compute, 40e9), fast = slow, waiting = slow;
  slow.flops_per_s = 70e9;
  fast.flops_per_s = 90e9;
  waiting.flops_per_s = 20e9;
  waiting.limiter = Limiter::memory;
  const auto interval = interval_of({5, 4, 20}, {slow, fast, waiting});
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->state.flops_per_s, 70e9);
  EXPECT_DOUBLE_EQ(interval->compute_ns, 900);
  EXPECT_DOUBLE_EQ(interval->memory_ns, 2000);
  // A twentieth of each part, and what sums differ from runs by: all independent.
  EXPECT_NEAR(std::pow(half_width(*interval) * 2900, 2),
              std::pow(45, 2) + std::pow(100, 2) + std::pow(0.04 * 2900, 2), 1e-6);
}

TEST(RunInterval, of_a_step_in_parts_is_that_of_all_parts) {
  StepSum sum = step_of({3});
  sum.micro_batches = 2;
  const std::vector<std::optional<Latency>> latencies{latency(100, 5, Limiter::memory, 40e9)};
  const auto interval = run_interval(sum, 0, latencies);
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->step_ns, 600);
}

TEST(RunInterval, is_absent_where_the_state_is_not_known_or_a_kernel_is_not_measured_here) {
  EXPECT_FALSE(interval_of({1}, {latency(100, 1, Limiter::memory, std::nullopt)}));
  EXPECT_FALSE(interval_of({3, 1}, {latency(100, 1, Limiter::memory, std::nullopt),
                                    latency(100, 1, Limiter::memory, 40e9)}));
  EXPECT_TRUE(interval_of({1, 3}, {latency(100, 1, Limiter::memory, std::nullopt),
                                   latency(100, 1, Limiter::memory, 40e9)}));
  Latency imported = latency(100, 1, Limiter::memory, 40e9);
  imported.provenance = Provenance::imported;
  EXPECT_FALSE(interval_of({1, 1}, {latency(100, 1, Limiter::memory, 40e9), imported}));
}

TEST(Redraw, the_median_of_three_has_its_exact_distribution) {
  // 27 equally likely triples of {1, 2, 3}: the median is 1 in 7, 2 in 13, 3 in 7 of them.
  const std::vector<std::vector<double>> medians{{10, 20, 30}};
  std::map<double, int> seen;
  constexpr int draws = 27'000;
  for (int d = 0; d < draws; ++d) {
    ++seen[redraw(medians, 5, static_cast<std::uint64_t>(d))[0].ns];
  }
  // Five standard deviations of a binomial count.
  EXPECT_NEAR(seen[10], 7000, 5 * 72);
  EXPECT_NEAR(seen[20], 13000, 5 * 82);
  EXPECT_NEAR(seen[30], 7000, 5 * 72);
}

TEST(Redraw, repeats_itself_and_knows_what_it_does_not_know) {
  const std::vector<std::vector<double>> medians{{1, 5}, {}, {7}};
  const auto once = redraw(medians, 1, 2), again = redraw(medians, 1, 2);
  EXPECT_EQ(once[0].ns, again[0].ns);
  EXPECT_FALSE(once[1].is_known);
  EXPECT_TRUE(once[2].is_known);
  EXPECT_EQ(once[2].ns, 7);
  EXPECT_EQ(once[2].low_ns, 7);
}

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
