#include "plan/trim.hpp"

#include <gtest/gtest.h>

namespace halmark {
namespace {

using Kept = std::vector<bool>;

TEST(Trim, a_sweep_within_its_budget_keeps_everything) {
  const TrimResult r = trim_to_budget({{"a", "d", {0}}, {"b", "d", {1}}}, {10, 20}, 5, 35);
  EXPECT_EQ(r.is_kept, (Kept{true, true}));
  EXPECT_TRUE(r.left_out.empty());
  EXPECT_DOUBLE_EQ(r.seconds, 35);
}

TEST(Trim, the_dearest_group_goes_first_and_is_named) {
  const TrimResult r =
      trim_to_budget({{"a", "d", {0}}, {"b", "d", {1}}, {"c", "d", {2}}}, {10, 30, 20}, 0, 35);
  EXPECT_EQ(r.is_kept, (Kept{true, false, true}));
  EXPECT_EQ(r.left_out, std::vector<std::string>{"b: would take 30 s of measuring"});
  EXPECT_DOUBLE_EQ(r.seconds, 30);
}

TEST(Trim, a_kernel_that_others_need_saves_nothing) {
  // b looks dear, but its kernel 0 is needed by a and c as well.
  const TrimResult r = trim_to_budget({{"a", "d", {0}}, {"b", "d", {0, 1}}, {"c", "d", {0, 2}}},
                                      {100, 1, 2}, 0, 101);
  EXPECT_EQ(r.is_kept, (Kept{true, true, false}));
  EXPECT_DOUBLE_EQ(r.seconds, 101);
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

TEST(Trim, what_fits_into_the_room_left_by_a_dear_group_comes_back) {
  // x and y share kernel 0, so each looks cheap until the other has gone: z goes first, in vain.
  const TrimResult r =
      trim_to_budget({{"x", "d", {0, 1}}, {"y", "d", {0, 2}}, {"z", "d", {3}}, {"w", "d", {4}}},
                     {20, 1, 2, 10, 1}, 0, 12);
  EXPECT_EQ(r.is_kept, (Kept{false, false, true, true}));
  EXPECT_DOUBLE_EQ(r.seconds, 11);
}

// a and b go in vain before x and y, whose shared kernel weighs nothing until one of them has gone.
// 9.5 of 10 s are left: b, dropped after a, comes back, and then a no longer fits.
TEST(Trim, of_two_that_would_fit_the_one_dropped_last_comes_back) {
  const TrimResult r = trim_to_budget(
      {{"a", "d", {0}}, {"b", "d", {1}}, {"x", "d", {2, 3}}, {"y", "d", {2, 4}}, {"w", "d", {5}}},
      {9, 8, 50, 1, 1, 0.5}, 0, 10);
  EXPECT_EQ(r.is_kept, (Kept{false, true, false, false, true}));
  EXPECT_DOUBLE_EQ(r.seconds, 8.5);
  ASSERT_EQ(r.left_out.size(), 3u);
  EXPECT_EQ(r.left_out[0], "a: would take 9 s of measuring");
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

}  // namespace
}  // namespace halmark
