// The nearest rival of a choice: normal differences, of which everything is known in closed form.
#include "search/pareto/nearest_rival.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "search/proposer.hpp"

namespace halmark {
namespace {

// The second is 5 % behind with a deviation of 4 %, the third 20 % with the same.
std::vector<std::vector<double>> drawn() {
  std::vector<std::vector<double>> out;
  for (std::uint64_t d = 0; d < 4000; ++d) {
    Stream stream(3, d, 1);
    out.push_back(
        {100, 105 * std::exp(0.04 * stream.normal()), 120 * std::exp(0.04 * stream.normal())});
  }
  return out;
}

TEST(NearestRival, is_the_one_that_is_better_most_often) {
  const auto rival = nearest_rival(drawn(), 0);
  ASSERT_TRUE(rival);
  EXPECT_EQ(rival->rival, 1u);
  EXPECT_NEAR(rival->behind, 0.05, 0.004);
  EXPECT_NEAR(rival->deviation, 0.04, 0.003);
  // Phi(-ln(1.05) / 0.04)
  EXPECT_NEAR(rival->probability, 0.111, 0.02);
  // (2 * 0.04 / ln(1.05))^2
  EXPECT_NEAR(rival->observations(), 2.69, 0.4);
}

TEST(NearestRival, is_the_nearest_where_none_is_ever_better) {
  const auto rival =
      nearest_rival(std::vector<std::vector<double>>{{100, 130, 110}, {100, 131, 111}}, 0);
  ASSERT_TRUE(rival);
  EXPECT_EQ(rival->rival, 2u);
  EXPECT_EQ(rival->probability, 0);
  EXPECT_LT(rival->observations(), 1);
}

TEST(NearestRival, is_absent_without_another) {
  EXPECT_FALSE(nearest_rival(std::vector<std::vector<double>>{{100}}, 0));
  EXPECT_FALSE(nearest_rival({}, 0));
}

TEST(NearestRival, no_number_of_observations_decides_between_equals) {
  const auto rival = nearest_rival(std::vector<std::vector<double>>{{100, 100}, {100, 100}}, 0);
  EXPECT_EQ(rival->behind, 0);
  EXPECT_EQ(rival->observations(), HUGE_VAL);
}

}  // namespace
}  // namespace halmark
