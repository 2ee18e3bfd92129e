// The grid: every valid point once, every prefix spread over the space.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "convex_problem.hpp"
#include "sample_spaces.hpp"
#include "search/proposer.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using namespace test;

TEST(Grid, visits_every_valid_point_once_in_batches_of_any_size) {
  const Space space = odd_space();
  ASSERT_EQ(space.size(), 30u);
  const auto whole = ask_all(*make_sampler("grid", space, 3), 1000);
  for (const std::size_t batch : {1u, 2u, 7u, 30u, 31u}) {
    const auto points = ask_all(*make_sampler("grid", space, 3), batch);
    EXPECT_EQ(points, whole) << "the order does not depend on the batch";
    EXPECT_EQ(std::set<Point>(points.begin(), points.end()).size(), 30u);
    for (const Point& p : points) EXPECT_TRUE(space.contains(p));
  }
}

TEST(Grid, visits_spaces_of_every_small_size) {
  for (int n = 1; n <= 40; ++n) {
    SearchDomain domain{.name = "a"};
    for (int v = 0; v < n; ++v) domain.values.push_back(std::to_string(v));
    const Space space({domain}, {});
    const auto points = ask_all(*make_sampler("grid", space, 11), 1000);
    EXPECT_EQ(points.size(), static_cast<std::size_t>(n));
    EXPECT_EQ(std::set<Point>(points.begin(), points.end()).size(), points.size());
  }
}

TEST(Grid, every_prefix_is_spread_over_the_whole_space) {
  const Space space = convex_space();
  const auto sampler = make_sampler("grid", space, 5);
  std::vector<std::uint64_t> ranks;
  for (const Point& p : sampler->ask(256)) ranks.push_back(space.index(p));
  // No gap between neighbours of a prefix is more than four times an even spacing.
  for (const std::size_t n : {16u, 64u, 100u, 256u}) {
    std::vector<std::uint64_t> prefix(ranks.begin(), ranks.begin() + static_cast<long>(n));
    std::ranges::sort(prefix);
    std::uint64_t widest = prefix.front() + 4096 - prefix.back();
    for (std::size_t i = 1; i < n; ++i) widest = std::max(widest, prefix[i] - prefix[i - 1]);
    EXPECT_LE(widest, 4 * 4096 / n) << n;
  }
}

TEST(Grid, the_seed_moves_the_start) {
  const Space space = convex_space();
  EXPECT_NE(make_sampler("grid", space, 1)->ask(1), make_sampler("grid", space, 2)->ask(1));
}

TEST(Grid, of_a_continuum_is_refused_with_another_sampler) {
  const Space space({continuum("x")}, {});
  const Error error = error_of([&] { make_sampler("grid", space, 1); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_NE(error.line().find("sobol"), std::string::npos) << error.line();
}

// Coprime, so that i * step modulo size visits everything; near size / golden ratio.
TEST(EvenStep, visits_all_and_stays_near_the_golden_section) {
  EXPECT_EQ(even_step(1), 1u);
  EXPECT_EQ(even_step(2), 1u);
  for (std::uint64_t size = 3; size < 3000; ++size) {
    const std::uint64_t step = even_step(size);
    EXPECT_EQ(std::gcd(step, size), 1u) << size;
    EXPECT_GE(static_cast<double>(step), 0.618 * static_cast<double>(size) - 1) << size;
    EXPECT_LE(static_cast<double>(step), 0.619 * static_cast<double>(size) + 8) << size;
  }
}

}  // namespace
}  // namespace halmark
