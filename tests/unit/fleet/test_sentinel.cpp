// A node against its own past, and what an agent does about it.
#include "fleet/nodes/sentinel.hpp"

#include <gmock/gmock.h>

#include "fleet/watch.hpp"

namespace halmark::fleet {
namespace {

using testing::HasSubstr;

TEST(Sentinel, moves_beyond_three_percent_of_the_median_of_its_past) {
  const SentinelHistory past{{"copy", {1000, 1000, 1000, 1000, 4000}}};
  EXPECT_EQ(moved_sentinel(past, {{"copy", 1029}}), "");
  EXPECT_EQ(moved_sentinel(past, {{"copy", 971}}), "");
  EXPECT_THAT(moved_sentinel(past, {{"copy", 1031}}), HasSubstr("3.1 % more"));
  EXPECT_THAT(moved_sentinel(past, {{"copy", 900}}), HasSubstr("10 % less"));
}

// Median 1000, median absolute deviation 20: three standard deviations are 8.9 %.
TEST(Sentinel, of_a_node_that_always_scatters_may_move_as_far) {
  const SentinelHistory past{{"copy", {960, 980, 1000, 1020, 1040}}};
  EXPECT_EQ(moved_sentinel(past, {{"copy", 1085}}), "");
  EXPECT_THAT(moved_sentinel(past, {{"copy", 1095}}), HasSubstr("8.9 % are usual"));
}

TEST(Sentinel, names_the_case_that_moved_most_and_knows_nothing_of_new_ones) {
  const SentinelHistory past{
      {"a", {10, 10, 10, 10, 10}}, {"b", {10, 10, 10, 10, 10}}, {"young", {10, 10, 10, 10}}};
  EXPECT_THAT(moved_sentinel(past, {{"a", 12}, {"b", 15}, {"young", 99}, {"never", 99}}),
              testing::StartsWith("b takes"));
  EXPECT_EQ(moved_sentinel(past, {{"young", 99}, {"never", 99}}), "");
}

class Watched : public testing::Test {
 protected:
  Watch watch(double work_s, double again_s = 0) {
    return {{.look =
                 [this] {
                   ++looks_;
                   return moved_;
                 },
             .doubt =
                 [this](std::int64_t run, std::span<const Doubt> doubts) {
                   if (server_is_away_) throw std::runtime_error("away");
                   for (const Doubt& d : doubts) doubted_.emplace_back(run, d.round);
                   reason_ = doubts.front().reason;
                 },
             .say = [](const std::string&) {}},
            work_s,
            again_s};
  }
  static std::vector<Measurement> row(int round) {
    Measurement m;
    m.round = round;
    return {m};
  }

  std::string moved_, reason_;
  int looks_ = 0;
  bool server_is_away_ = false;
  std::vector<std::pair<std::int64_t, int>> doubted_;
};

// A search asks for a kernel now and then.
TEST_F(Watched, does_not_look_between_portions_of_work) {
  Watch w = watch(1e6, 1e6);
  for (int round = 1; round <= 5; ++round) {
    EXPECT_TRUE(w.may_measure());
    w.measured(1, row(round));
    w.has_no_work();
  }
  EXPECT_EQ(looks_, 1);
}

TEST_F(Watched, looks_once_before_a_batch_and_once_behind_it) {
  Watch w = watch(1e6);
  w.has_no_work();
  EXPECT_EQ(looks_, 0) << "nothing was measured";
  EXPECT_TRUE(w.may_measure());
  w.measured(1, row(1));
  EXPECT_TRUE(w.may_measure());
  EXPECT_EQ(looks_, 1);
  w.has_no_work();
  w.has_no_work();
  EXPECT_EQ(looks_, 2);
  EXPECT_TRUE(doubted_.empty());
}

TEST_F(Watched, doubts_what_lies_between_the_last_look_that_passed_and_one_that_did_not) {
  Watch w = watch(1e-9);
  EXPECT_TRUE(w.may_measure());
  w.measured(1, row(1));
  EXPECT_TRUE(w.may_measure());  // passes: round 1 is believed
  w.measured(1, row(2));
  w.measured(7, row(3));
  moved_ = "copy takes 2 us";
  EXPECT_FALSE(w.may_measure());
  EXPECT_EQ(doubted_, (std::vector<std::pair<std::int64_t, int>>{{1, 2}, {7, 3}}));
  EXPECT_EQ(reason_, "W-NODE-01: copy takes 2 us");
  EXPECT_EQ(w.unfit(), reason_);
  EXPECT_FALSE(w.may_claim());
  moved_.clear();
  EXPECT_TRUE(w.may_claim());
  EXPECT_EQ(w.unfit(), "");
  EXPECT_EQ(doubted_.size(), 2u);
}

TEST_F(Watched, keeps_its_doubts_while_the_server_is_away) {
  Watch w = watch(1e6);
  EXPECT_TRUE(w.may_measure());
  w.measured(1, row(4));
  moved_ = "copy takes 2 us";
  server_is_away_ = true;
  EXPECT_THROW(w.has_no_work(), std::runtime_error);
  moved_.clear();
  EXPECT_THROW(w.may_claim(), std::runtime_error);
  server_is_away_ = false;
  EXPECT_TRUE(w.may_claim());
  EXPECT_EQ(doubted_, (std::vector<std::pair<std::int64_t, int>>{{1, 4}}));
}

TEST_F(Watched, an_unfit_node_is_looked_at_again_when_it_is_time) {
  Watch w = watch(1e6, 1e6);
  moved_ = "copy takes 2 us";
  EXPECT_FALSE(w.may_measure());
  moved_.clear();
  EXPECT_FALSE(w.may_claim());
  EXPECT_EQ(looks_, 1);
}

TEST_F(Watched, nobody_looks_where_that_is_switched_off) {
  Watch w = watch(0);
  EXPECT_TRUE(w.may_measure());
  w.measured(1, row(1));
  w.has_no_work();
  EXPECT_EQ(looks_, 0);
}

}  // namespace
}  // namespace halmark::fleet
