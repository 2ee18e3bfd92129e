// Folds over parts, against hand-computed figures and against the proof's own fold.
#include "roofline/bound.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "search/certify/certify_problem.hpp"

namespace halmark::roofline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Bound of(std::initializer_list<Part> parts) {
  Bound out;
  for (const Part& part : parts) out.add(part);
  return out;
}

TEST(Bound, is_the_largest_of_its_parts_and_never_their_sum) {
  const Bound bound = of({{1e9, 1e12, Level::compute},  // 1 ms
                          {3e7, 1e10, Level::memory},   // 3 ms
                          {1e9, 1e12, Level::l2},       // 1 ms
                          {1e6, 1e9, Level::link}});    // 1 ms
  EXPECT_DOUBLE_EQ(bound.ns(), 3e6);
  EXPECT_EQ(bound.limiter(), Limiter::memory);
  EXPECT_DOUBLE_EQ(bound.ns(Limiter::compute), 1e6);
  EXPECT_DOUBLE_EQ(bound.ns(Limiter::memory), 3e6);
  EXPECT_DOUBLE_EQ(bound.ns(Limiter::communication), 1e6);
}

TEST(Bound, nothing_known_bounds_nothing) {
  EXPECT_EQ(Bound{}.ns(), 0);
  EXPECT_EQ(Bound{}.limiter(), Limiter::unknown);
  EXPECT_EQ(quarantine(Bound{}, 1e-9), std::nullopt);
}

TEST(Bound, a_collective_is_limited_by_communication_whatever_is_largest) {
  Bound bound = of({{1, 1, Level::memory}});
  EXPECT_EQ(bound.limiter(), Limiter::memory);
  bound.set_collective();
  EXPECT_EQ(bound.limiter(), Limiter::communication);
}

TEST(Bound, the_largest_part_limits_wherever_it_stands) {
  EXPECT_EQ(of({{2, 1, Level::compute}, {1, 1, Level::memory}, {3, 1, Level::link}}).limiter(),
            Limiter::communication);
  EXPECT_EQ(of({{2, 1, Level::compute}, {1, 1, Level::link}, {3, 1, Level::memory}}).limiter(),
            Limiter::memory);
}

TEST(Bound, equal_parts_are_limited_by_the_first_of_them) {
  EXPECT_EQ(of({{1, 1, Level::compute}, {2, 2, Level::memory}}).limiter(), Limiter::compute);
}

// Both sides of 102 %, of a bound of 1 ms.
TEST(Quarantine, begins_where_a_time_is_more_than_two_percent_below_the_bound) {
  const Bound bound = of({{1e9, 1e12, Level::compute}});
  EXPECT_EQ(quarantine(bound, 1e6 / 1.019), std::nullopt);
  const auto why = quarantine(bound, 1e6 / 1.021);
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, AllOf(HasSubstr("faster_than_roofline: 102.1 % of the compute bound"),
                          HasSubstr("979.432 us"), HasSubstr("1000.000 us")));
  EXPECT_EQ(quarantine(bound, 2e6), std::nullopt);
}

TEST(Bound, the_level_says_what_limits) {
  const std::pair<Level, Limiter> expected[] = {
      {Level::compute, Limiter::compute}, {Level::l1, Limiter::memory},
      {Level::l2, Limiter::memory},       {Level::l3, Limiter::memory},
      {Level::memory, Limiter::memory},   {Level::link, Limiter::communication}};
  for (const auto& [level, limiter] : expected) EXPECT_EQ(limiter_of(level), limiter);
}

// More constants than bytes pass: what is read once cannot be more than what is read.
TEST(Traffic, constants_are_bytes_of_the_work) {
  const Work work{.bytes_read = 100, .bytes_written = 20, .constant_bytes = 500};
  for (const Traffic& moved : {step_traffic(work), traffic(work, CacheMode::rotate_const, 4)}) {
    EXPECT_EQ(moved.constant_bytes, 120);
    EXPECT_EQ(moved.warm_bytes, 0);
  }
  EXPECT_EQ(traffic(work, CacheMode::hot, 1).warm_set_bytes, 120);
  const Traffic flushed = traffic(work, CacheMode::flush, 3);
  EXPECT_EQ(flushed.constant_bytes, 120);
  EXPECT_EQ(flushed.ring_bytes, 360);
}

TEST(Traffic, follows_from_the_cache_mode) {
  const Work work{.bytes_read = 100, .bytes_written = 20, .constant_bytes = 80};
  const Traffic cold = traffic(work, CacheMode::rotate_const, 4);
  EXPECT_EQ(cold.constant_bytes, 80);
  EXPECT_EQ(cold.warm_bytes, 40);
  EXPECT_EQ(cold.ring_bytes, 320);
  EXPECT_EQ(cold.warm_set_bytes, 40);
  EXPECT_EQ(traffic(work, CacheMode::hot, 4).warm_bytes, 120);
  EXPECT_EQ(traffic(work, CacheMode::rotate_all, 2).ring_bytes, 240);
  const Traffic step = step_traffic(work);
  EXPECT_EQ(step.constant_bytes, 80);
  EXPECT_EQ(step.warm_bytes, 40);
  EXPECT_EQ(step.warm_set_bytes, 0) << "nobody knows where they lie";
}

// What a proof recomputes from its own peaks is this bound, but for the safety factor.
TEST(Bound, the_bound_of_a_proof_is_the_same_maximum) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(0, 12);
  for (int i = 0; i < 1000; ++i) {
    Bound bound;
    std::vector<BoundPeak> peaks;
    CertifyKernel kernel;
    for (std::int32_t p = 0; p < 5; ++p) {
      const Part part{std::pow(10, exponent(random)), std::pow(10, exponent(random)),
                      p == 0 ? Level::compute : Level::memory, p};
      bound.add(part);
      peaks.push_back({.id = std::to_string(p), .value = part.per_s, .safety = 1.05});
      kernel.terms.push_back({p, part.amount});
    }
    EXPECT_NEAR(kernel_bound(kernel, peaks, 1e9) * 1.05 / bound.ns(), 1, 1e-12);
  }
}

}  // namespace
}  // namespace halmark::roofline
