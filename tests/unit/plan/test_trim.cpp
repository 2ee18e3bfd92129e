#include "plan/toml/trim.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace halmark {
namespace {

using Kept = std::vector<bool>;

TEST(Trim, the_dearest_group_goes_first_and_is_named) {
  const TrimResult r =
      trim_to_budget({{"a", "d", {0}}, {"b", "d", {1}}, {"c", "d", {2}}}, {10, 30, 20}, 0, 35);
  EXPECT_EQ(r.is_kept, (Kept{true, false, true}));
  EXPECT_EQ(r.left_out, std::vector<std::string>{"b: would take 30 s of measuring"});
  EXPECT_DOUBLE_EQ(r.seconds, 30);
}

TEST(Trim, a_shared_kernel_counts_once_and_until_its_last_user_goes) {
  const TrimResult r =
      trim_to_budget({{"a", "d", {0}}, {"b", "p", {1, 2}}, {"c", "p", {1, 3}}, {"e", "p", {4}}},
                     {1, 50, 3, 2, 1}, 0, 10);
  EXPECT_EQ(r.is_kept, (Kept{true, false, false, true}));
  EXPECT_DOUBLE_EQ(r.seconds, 2);
  ASSERT_EQ(r.left_out.size(), 2u);
  // Each by itself: both need kernel 1, so the shared 50 s count in either.
  EXPECT_EQ(r.left_out[0], "b: would take 53 s of measuring");
  EXPECT_EQ(r.left_out[1], "c: would take 52 s of measuring");
}

TEST(Trim, the_last_group_of_a_class_stays_even_over_the_budget) {
  const TrimResult r = trim_to_budget(
      {{"decode", "decode", {0}}, {"prefill 1", "prefill", {1}}, {"prefill 4", "prefill", {2}}},
      {50, 60, 90}, 10, 20);
  EXPECT_EQ(r.is_kept, (Kept{true, true, false}));
  EXPECT_DOUBLE_EQ(r.seconds, 120) << "the prediction is honest about what is kept";
}

TEST(Trim, groups_without_cost_stay) {
  const TrimResult r = trim_to_budget({{"a", "d", {}}, {"b", "d", {0}}}, {100}, 0, 20);
  EXPECT_EQ(r.is_kept, (Kept{true, false}));
}

TEST(Trim, nothing_to_trim_is_no_loop) {
  const TrimResult r = trim_to_budget({}, {}, 30, 20);
  EXPECT_TRUE(r.is_kept.empty());
  EXPECT_DOUBLE_EQ(r.seconds, 30);
}

// What the trimmer promises, summed anew at every step.
TrimResult by_definition(const std::vector<TrimGroup>& groups, const std::vector<double>& seconds,
                         double base, double budget) {
  std::vector<bool> kept(groups.size(), true);
  std::vector<std::size_t> dropped;
  const auto total = [&](const std::vector<bool>& of) {
    std::set<std::int32_t> used;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (of[g]) used.insert(groups[g].kernels.begin(), groups[g].kernels.end());
    }
    double out = base;
    for (const std::int32_t k : used) out += seconds[static_cast<std::size_t>(k)];
    return out;
  };
  const auto own = [&](std::size_t g) {
    std::vector<bool> with = kept, without = kept;
    with[g] = true;
    without[g] = false;
    return total(with) - total(without);
  };
  while (total(kept) > budget) {
    std::size_t most_expensive = groups.size();
    double most = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      int of_class = 0;
      for (std::size_t h = 0; h < groups.size(); ++h) {
        of_class += kept[h] && groups[h].keep_class == groups[g].keep_class;
      }
      if (!kept[g] || of_class == 1 || own(g) <= most) continue;
      most = own(g);
      most_expensive = g;
    }
    if (most_expensive == groups.size()) break;
    kept[most_expensive] = false;
    dropped.push_back(most_expensive);
  }
  double room = budget - total(kept);
  for (auto it = dropped.rbegin(); it != dropped.rend(); ++it) {
    const double costs = own(*it);
    if (costs > room) continue;
    kept[*it] = true;
    room -= costs;
  }
  return {.is_kept = kept, .seconds = total(kept)};
}

// Whole seconds, so that sums have no rounding to differ in.
TEST(Trim, keeps_what_its_definition_keeps_on_random_groups) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int trial = 0; trial < 300; ++trial) {
    const int kernels = 3 + below(12);
    std::vector<double> seconds;
    for (int k = 0; k < kernels; ++k) seconds.push_back(1 + below(30));
    std::vector<TrimGroup> groups;
    for (int g = 0; g < 2 + below(9); ++g) {
      std::set<std::int32_t> some;
      for (int i = 0; i < 1 + below(5); ++i) some.insert(below(kernels));
      groups.push_back({std::to_string(g), below(2) == 0 ? "d" : "p", {some.begin(), some.end()}});
    }
    const double budget = below(120), base = below(10);
    const TrimResult found = trim_to_budget(groups, seconds, base, budget);
    const TrimResult expected = by_definition(groups, seconds, base, budget);
    EXPECT_EQ(found.is_kept, expected.is_kept) << "trial " << trial;
    EXPECT_EQ(found.seconds, expected.seconds) << "trial " << trial;
  }
}

// Took time with the cube of the groups: 48 s for 800, and this many would not have ended.
TEST(Trim, four_thousand_groups_are_no_more_than_a_moment) {
  std::vector<TrimGroup> groups;
  std::vector<double> seconds;
  for (std::int32_t g = 0; g < 4096; ++g) {
    groups.push_back({std::to_string(g), "d", {g, 4096 + g / 2}});
    seconds.push_back(1 + g % 7);
  }
  seconds.resize(4096 + 2048, 1);
  const TrimResult r = trim_to_budget(groups, seconds, 0, 8);
  EXPECT_LE(r.seconds, 8);
  EXPECT_GE(std::ranges::count(r.is_kept, true), 1);
}

}  // namespace
}  // namespace halmark
