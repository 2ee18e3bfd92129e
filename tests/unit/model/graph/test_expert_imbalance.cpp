#include "model/graph/expert_imbalance.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace halmark {
namespace {

TEST(ExpertImbalance, the_largest_of_normals_is_where_tables_have_it) {
  EXPECT_EQ(expected_normal_maximum(1), 0);
  const std::pair<std::int64_t, double> exact[] = {{2, 0.5641895835},
                                                   {3, 0.8462843753},  // 3 / (2 sqrt(pi))
                                                   {4, 1.0293753730},
                                                   {8, 1.4236003060},
                                                   {16, 1.7659913931}};
  for (const auto& [n, maximum] : exact) EXPECT_NEAR(expected_normal_maximum(n), maximum, 1e-9);
  const std::pair<std::int64_t, double> tables[] = {
      {32, 2.0697}, {64, 2.3437}, {128, 2.5946}, {256, 2.8269}};
  for (const auto& [n, maximum] : tables) EXPECT_NEAR(expected_normal_maximum(n), maximum, 5e-5);
}

struct Row {
  std::int64_t experts, top_k, ranks, tokens;
  double imbalance;
};

// An independent simulation, 2 %.
TEST(ExpertImbalance, loads_of_the_slowest_rank_under_uniform_routing) {
  constexpr Row rows[] = {
      {128, 8, 8, 8, 1.515},     {128, 8, 8, 64, 1.172},   {128, 8, 8, 512, 1.059},
      {128, 8, 8, 8192, 1.016},  {256, 8, 8, 8, 1.521},    {256, 8, 8, 64, 1.180},
      {256, 8, 8, 512, 1.059},   {256, 8, 8, 8192, 1.018}, {256, 8, 16, 8, 1.955},
      {256, 8, 16, 64, 1.319},   {256, 8, 16, 512, 1.112}, {256, 8, 16, 8192, 1.022},
      {384, 8, 16, 8, 1.963},    {384, 8, 16, 64, 1.320},  {384, 8, 16, 512, 1.107},
      {384, 8, 16, 8192, 1.030},
  };
  for (const Row& row : rows) {
    EXPECT_NEAR(expected_imbalance(row.experts, row.top_k, row.ranks, row.tokens), row.imbalance,
                0.02 * row.imbalance)
        << row.experts << ' ' << row.ranks << ' ' << row.tokens;
  }
}

TEST(ExpertImbalance, one_token_follows_the_exact_law) {
  EXPECT_NEAR(expected_imbalance(128, 8, 8, 1), 2.530, 0.0005);
  EXPECT_NEAR(expected_imbalance(256, 8, 8, 1), 2.564, 0.0005);
  EXPECT_NEAR(expected_imbalance(256, 8, 16, 1), 4.044, 0.0005);
  EXPECT_NEAR(expected_imbalance(384, 8, 16, 1), 4.072, 0.0005);
  // 2 of 4 experts on 2 ranks: both on one rank in 2 of 6 cases.
  EXPECT_NEAR(expected_imbalance(4, 2, 2, 1), (2.0 / 6 * 2 + 4.0 / 6 * 1) / 1, 1e-12);
}

// 2 tokens of one expert each on 2 ranks of one expert: 2 rows on one rank, or one on each.
TEST(ExpertImbalance, few_tokens_are_simulated) {
  EXPECT_NEAR(expected_imbalance(2, 1, 2, 2), 1.5, 0.015);
  EXPECT_EQ(expected_imbalance(256, 8, 16, 8), expected_imbalance(256, 8, 16, 8));
}

TEST(ExpertImbalance, nothing_is_left_to_chance_on_one_rank_or_with_all_experts) {
  EXPECT_EQ(expected_imbalance(128, 8, 1, 3), 1);
  EXPECT_EQ(expected_imbalance(8, 8, 4, 100), 1);
}

TEST(ExpertImbalance, vanishes_with_many_tokens) {
  EXPECT_LT(expected_imbalance(256, 8, 256, 1 << 30) - 1, 0.001);
}

// 1, and 4 - 4 (1/2)^2 of four experts two of which each of two tokens picks.
TEST(ExpertImbalance, distinct_experts_of_a_batch) {
  EXPECT_EQ(expected_distinct_experts(128, 8, 1), 8);
  EXPECT_NEAR(expected_distinct_experts(4, 2, 2), 3, 1e-12);
  EXPECT_NEAR(expected_distinct_experts(256, 8, 10'000'000), 256, 1e-9);
  EXPECT_EQ(expected_distinct_experts(4, 4, 9), 4);
}

}  // namespace
}  // namespace halmark
