// Integer programs against enumeration of every point of their box.
#include "search/integer_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../error_of.hpp"
#include "core/numeric/random.hpp"

namespace halmark {
namespace {

using test::error_of;

bool holds_rows(const IntegerProgram& p, const std::vector<std::int64_t>& at) {
  for (const IntegerProgram::Row& row : p.rows) {
    double sum = 0;
    for (const auto& [variable, factor] : row.terms) {
      sum += factor * static_cast<double>(at[variable]);
    }
    if (sum > row.at_most + 1e-9) return false;
  }
  return true;
}

std::optional<double> by_enumeration(const IntegerProgram& p) {
  std::vector<std::int64_t> at = p.low;
  std::optional<double> best;
  for (;;) {
    const bool holds = holds_rows(p, at);
    double cost = 0;
    for (std::size_t i = 0; i < at.size(); ++i) cost += p.cost[i] * static_cast<double>(at[i]);
    if (holds && (!best || cost < *best)) best = cost;
    std::size_t i = 0;
    while (i < at.size() && at[i] == p.high[i]) {
      at[i] = p.low[i];
      ++i;
    }
    if (i == at.size()) return best;
    ++at[i];
  }
}

// 4 variables in boxes of up to 5 values, 3 rows; numbers of tenths, so that equality is exact.
IntegerProgram drawn(std::uint64_t seed) {
  std::uint64_t counter = 0;
  const auto tenths = [&](int low, int high) {
    const double u = uniform_01(hash_u64(seed, counter++));
    return static_cast<double>(low + static_cast<int>(u * (high - low + 1)));
  };
  IntegerProgram out;
  for (int i = 0; i < 4; ++i) {
    out.cost.push_back(tenths(-20, 40));
    out.low.push_back(static_cast<std::int64_t>(tenths(-2, 0)));
    out.high.push_back(out.low.back() + static_cast<std::int64_t>(tenths(0, 4)));
  }
  for (int r = 0; r < 3; ++r) {
    IntegerProgram::Row& row = out.rows.emplace_back();
    for (std::size_t i = 0; i < 4; ++i) row.terms.push_back({i, tenths(-9, 9)});
    row.at_most = tenths(-25, 15);
  }
  return out;
}

TEST(IntegerProgram, equals_enumeration_on_random_programs) {
  int infeasible = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const IntegerProgram program = drawn(seed);
    const auto expected = by_enumeration(program);
    infeasible += expected ? 0 : 1;
    const auto found = solve(program);
    ASSERT_EQ(found.has_value(), expected.has_value()) << seed;
    if (!found) continue;
    EXPECT_NEAR(found->cost, *expected, 1e-9) << seed << ' ' << found->solver;
    EXPECT_TRUE(holds_rows(program, found->at)) << seed;
  }
  EXPECT_GT(infeasible, 10) << "both kinds were tried";
  EXPECT_LT(infeasible, 290);
}

// 3 x + 2 y >= 7 at 5 and 4 a piece: rounding the relaxation (x = 7/3) up costs 15, (1, 2) 13.
TEST(IntegerProgram, the_optimum_is_of_whole_numbers) {
  const IntegerProgram program{.cost = {5, 4},
                               .low = {0, 0},
                               .high = {10, 10},
                               .rows = {{.terms = {{0, -3}, {1, -2}}, .at_most = -7}}};
  const auto found = solve(program);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->cost, 13, 1e-9);
  EXPECT_THAT(found->at, testing::ElementsAre(1, 2));
}

// 5 is above its limit by 2e-8, within the tolerance of the solver and not within ours.
TEST(IntegerProgram, what_breaks_a_row_by_less_than_the_solvers_tolerance_is_no_answer) {
  IntegerProgram program{
      .cost = {-1}, .low = {-9}, .high = {9}, .rows = {{.terms = {{0, 1}}, .at_most = 5 - 2e-8}}};
  const auto found = solve(program);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->at, testing::ElementsAre(4));
  program.rows[0].at_most = 4;
  EXPECT_THAT(solve(program)->at, testing::ElementsAre(4));
}

TEST(IntegerProgram, refuses_what_is_none) {
  IntegerProgram program = drawn(1);
  program.high.pop_back();
  EXPECT_EQ(error_of([&] { (void)solve(program); }).exit_code(), ExitCode::error);
}

}  // namespace
}  // namespace halmark
