#include "kernels/routing.hpp"
#include "core/numeric/cast.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/numeric/random.hpp"
#include "core/text/error.hpp"
#include "tests/unit/kernels/table_reader.hpp"

namespace halmark::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Case {
  std::int64_t tokens, top_k, experts, skew;
};

std::int64_t total(std::span<const std::int64_t> values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

// Parameters of all sizes, edges included: top_k = experts, one token, skew 0.
std::vector<Case> random_cases() {
  std::vector<Case> cases;
  std::uint64_t counter = 0;
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(
        uniform_below(hash_u64(77, counter++), static_cast<std::uint64_t>(bound)));
  };
  for (int i = 0; i < 400; ++i) {
    const auto experts = 1 + below(i % 5 == 0 ? 4 : 160);
    const auto top_k = i % 7 == 0 ? experts : 1 + below(std::min<std::int64_t>(experts, 12));
    cases.push_back({.tokens = i % 9 == 0 ? 1 : 1 + below(300),
                     .top_k = top_k,
                     .experts = experts,
                     .skew = i % 4 == 0 ? 0 : below(500)});
  }
  return cases;
}

std::vector<std::int64_t> counts_of(const Case& c) {
  return routing_counts(c.tokens, c.top_k, c.experts, c.skew);
}

TEST(RoutingCounts, every_assignment_is_made_and_no_expert_gets_a_token_twice) {
  for (const auto& c : random_cases()) {
    const auto counts = counts_of(c);
    ASSERT_EQ(std::ssize(counts), c.experts);
    ASSERT_EQ(total(counts), c.tokens * c.top_k);
    const auto [low, high] = std::ranges::minmax(counts);
    ASSERT_GE(low, 0);
    ASSERT_LE(high, c.tokens);
  }
}

TEST(RoutingCounts, without_skew_they_differ_by_one_at_most) {
  for (const auto& c : random_cases()) {
    const auto counts = routing_counts(c.tokens, c.top_k, c.experts, 0);
    const auto [low, high] = std::ranges::minmax(counts);
    ASSERT_LE(high - low, 1) << c.tokens << " " << c.top_k << " " << c.experts;
  }
}

// Against the law in floating point, at sizes where no expert reaches the limit.
TEST(RoutingCounts, follow_the_power_law_within_one_row) {
  for (const std::int64_t skew : {25, 60, 100, 150}) {
    auto counts = routing_counts(1'000'000, 1, 48, skew);
    std::ranges::sort(counts, std::greater{});
    double sum = 0;
    for (int i = 1; i <= 48; ++i) sum += std::pow(i, -as_double(skew) / 100);
    for (int i = 1; i <= 48; ++i) {
      const double share = 1e6 * std::pow(i, -as_double(skew) / 100) / sum;
      ASSERT_NEAR(as_double(counts[as_size(i - 1)]), share, 1.01) << i;
    }
  }
}

TEST(RoutingCounts, a_steeper_law_loads_the_heaviest_experts_more) {
  const auto heaviest_four = [](std::int64_t skew) {
    auto counts = routing_counts(512, 4, 64, skew);
    std::ranges::sort(counts, std::greater{});
    return counts[0] + counts[1] + counts[2] + counts[3];
  };
  EXPECT_LT(heaviest_four(0), heaviest_four(50));
  EXPECT_LT(heaviest_four(50), heaviest_four(100));
  EXPECT_LT(heaviest_four(100), heaviest_four(200));
}

TEST(RoutingCounts, what_exceeds_the_limit_goes_to_the_others_in_proportion) {
  auto counts = routing_counts(100, 2, 8, 300);
  std::ranges::sort(counts, std::greater{});
  // Shares 1, 1/8, 1/27 ... of 200: the first is cut to 100, the others share 100.
  EXPECT_THAT(counts, ElementsAre(100, 64, 19, 8, 4, 2, 2, 1));
}

TEST(RoutingCounts, heavy_experts_are_spread_over_the_ranks) {
  const auto counts = routing_counts(512, 8, 64, 100);
  std::vector<std::int64_t> sorted = counts;
  std::ranges::sort(sorted, std::greater{});
  std::set<std::int64_t> ranks;
  for (std::int64_t e = 0; e < 64; ++e) {
    if (counts[as_size(e)] >= sorted[7]) ranks.insert(e / 16);
  }
  EXPECT_GE(ranks.size(), 3u);
}

TEST(RoutingTable, has_distinct_experts_per_token_and_exactly_the_counts) {
  for (const auto& c : random_cases()) {
    const auto table = routing_table(c.tokens, c.top_k, c.experts, c.skew);
    ASSERT_EQ(std::ssize(table), c.tokens * c.top_k);
    std::vector<std::int64_t> seen(as_size(c.experts), 0);
    for (std::size_t token = 0; token < as_size(c.tokens); ++token) {
      const auto k = as_size(c.top_k);
      const auto slots = std::span(table).subspan(token * k, k);
      ASSERT_EQ(std::set<std::int64_t>(slots.begin(), slots.end()).size(), k);
      for (const auto expert : slots) ++seen.at(as_size(expert));
    }
    ASSERT_EQ(seen, counts_of(c));
  }
}

TEST(Ranks, share_experts_and_rows_without_rest) {
  for (const auto& c : random_cases()) {
    const auto counts = counts_of(c);
    for (std::int64_t ep = 1; ep <= c.experts; ++ep) {
      if (c.experts % ep != 0) continue;
      std::int64_t next = 0, rows = 0, active = 0, most = 0;
      for (std::int64_t rank = 0; rank < ep; ++rank) {
        const auto range = local_experts(c.experts, ep, rank);
        ASSERT_EQ(range.begin, next);
        ASSERT_EQ(range.size(), c.experts / ep);
        next = range.end;
        rows += rows_of(counts, range);
        active += active_experts(counts, range);
        most = std::max(most, rows_of(counts, range));
      }
      ASSERT_EQ(next, c.experts);
      ASSERT_EQ(rows, c.tokens * c.top_k);
      ASSERT_EQ(active, c.experts - std::ranges::count(counts, 0));
      ASSERT_EQ(rows_of(counts, local_experts(c.experts, ep, heaviest_rank(counts, ep))), most);
    }
  }
}

TEST(Ranks, positions_are_grouped_by_expert_and_ordered_within) {
  const std::vector<std::int64_t> table{0, 2, 1, 3, 2, 3, 0, 1};
  EXPECT_THAT(local_positions(table, {0, 4}), ElementsAre(0, 6, 2, 7, 1, 4, 3, 5));
  EXPECT_THAT(local_positions(table, {2, 4}), ElementsAre(1, 4, 3, 5));
}

Params routed(std::int64_t tokens, std::int64_t top_k, std::int64_t experts, std::int64_t ep_size,
              std::int64_t ep_rank) {
  return written("tokens=? top_k=? experts=? ep_size=? ep_rank=? hidden=8 dtype=f32", tokens, top_k,
                 experts, ep_size, ep_rank);
}

std::string refusal(const Params& params) {
  try {
    complete_problem({"moe_dispatch", params});
  } catch (const Error& error) {
    return error.line();
  }
  return "accepted";
}

// Larger than any table that is made: counted, and refused where its values are wanted.
TEST(RoutedProblem, of_a_model_s_step_may_be_larger_than_a_kernel_s) {
  const Problem complete = complete_problem({"moe_dispatch", routed(62914560, 8, 256, 1, 0)});
  EXPECT_EQ(complete.params.at("rows"), 8 * 62914560);
  const auto operands = find_contract("moe_dispatch")->operands(complete.params);
  const auto given =
      std::ranges::find_if(operands, [](const auto& o) { return o.given != nullptr; });
  ASSERT_NE(given, operands.end());
  try {
    given->given->get();
    FAIL() << "no table of half a billion entries is made";
  } catch (const Error& error) {
    EXPECT_THAT(error.line(), HasSubstr("tokens * top_k must be at most 67108864"));
  }
}

TEST(RoutedProblem, says_what_does_not_fit_together) {
  EXPECT_THAT(refusal(routed(4, 5, 4, 1, 0)), HasSubstr("top_k=5 of experts=4"));
  EXPECT_THAT(refusal(routed(4, 2, 6, 4, 0)), HasSubstr("ep_size=4 and experts=6"));
  EXPECT_THAT(refusal(routed(4, 2, 6, 2, 2)), HasSubstr("ep_rank=2 and ep_size=2"));
}

TEST(RoutedProblem, of_a_rank_without_rows_is_refused_naming_one_that_has_some) {
  int refused_ranks = 0;
  for (std::int64_t rank = 0; rank < 8; ++rank) {
    const auto line = refusal(routed(1, 1, 8, 8, rank));
    if (line == "accepted") continue;
    ++refused_ranks;
    EXPECT_THAT(line, HasSubstr("ep_rank=" + std::to_string(rank) + " of ep_size=8"));
  }
  EXPECT_EQ(refused_ranks, 7);
}

TEST(RoutedProblem, rows_follow_and_cannot_be_given_otherwise) {
  auto params = routed(5, 2, 4, 1, 0);
  EXPECT_EQ(completed("moe_dispatch", params).at("rows"), 10);
  params.set("rows", 10);
  EXPECT_EQ(refusal(params), "accepted");
  params.set("rows", 9);
  EXPECT_THAT(refusal(params), AllOf(HasSubstr("rows=9"), HasSubstr("10")));
}

}  // namespace
}  // namespace halmark::testing
