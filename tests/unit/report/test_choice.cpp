// Groups and picks on fronts whose answer can be read off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "report/choice/grouping.hpp"
#include "report/choice/pick.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array objectives = {Objective::ttft, Objective::tokens_per_s};

Evaluation point(double ttft_ns, double tokens_per_s) {
  Evaluation out;
  out.configuration.served = ServedLoad{};
  out.served = ServedEstimate{};
  out.served->figures.ttft_ns = ttft_ns;
  out.served->figures.tokens_per_s = tokens_per_s;
  return out;
}

TEST(Grouping, points_within_the_share_in_every_objective_are_one) {
  const std::vector<Evaluation> points = {point(100, 1000), point(100.5, 1005), point(100.5, 1100),
                                          point(101.4, 1001)};
  const auto groups = group_points(points, objectives, 0.01);
  ASSERT_EQ(groups.size(), 3u);  // the last is 1.4 % from the first, which stands for its group
  EXPECT_THAT(groups[0].others, ElementsAre(1u));
  EXPECT_EQ(group_points(points, objectives, 0).size(), 4u);
  EXPECT_EQ(group_points(points, objectives, 0.2).size(), 1u);
}

TEST(Grouping, overlapping_intervals_cannot_be_told_apart) {
  Evaluation a = point(100, 1000), b = point(110, 1000);
  for (Evaluation* e : {&a, &b}) {
    e->served->has_interval = true;
    e->served->fast = e->served->slow = e->served->figures;
  }
  EXPECT_EQ(group_points(std::vector{a, b}, objectives, 0.01).size(), 2u);
  a.served->slow.ttft_ns = 111;
  EXPECT_EQ(group_points(std::vector{a, b}, objectives, 0.01).size(), 1u);
}

TEST(Grouping, what_is_left_unsaid_is_counted) {
  EXPECT_EQ(alike_text(std::vector<PointGroup>{{0, {}}, {3, {}}}), "");
  EXPECT_THAT(alike_text(std::vector<PointGroup>{{0, {}}, {3, {4}}}),
              testing::StartsWith("and 1 that hardly differs from these"));
  EXPECT_THAT(alike_text(std::vector<PointGroup>{{0, {1, 2}}, {3, {4}}}),
              testing::StartsWith("and 3 that hardly differ from these"));
}

TEST(Pick, the_knee_is_the_point_in_the_bend) {
  // The middle one is 1.1 times the best of either; the ends give up a factor of 10.
  const std::vector<Evaluation> points = {point(100, 1000), point(110, 9000), point(1000, 10000)};
  const Pick knee = pick_point(points, objectives, "knee");
  EXPECT_EQ(knee.index, 1u);
  ASSERT_EQ(knee.gives_up.size(), 2u);
  EXPECT_THAT(knee.gives_up[0], HasSubstr("1.1 times less"));
  EXPECT_THAT(knee.gives_up[1], HasSubstr("1.11 times more"));
}

TEST(Pick, the_best_of_one_objective_names_what_the_others_lose) {
  const std::vector<Evaluation> points = {point(100, 1000), point(1000, 10000)};
  EXPECT_EQ(pick_point(points, objectives, "best:ttft").index, 0u);
  const Pick most = pick_point(points, objectives, "best:tokens_per_s");
  EXPECT_EQ(most.index, 1u);
  EXPECT_THAT(most.gives_up, ElementsAre(HasSubstr("TTFT")));
}

TEST(Pick, unknown_words_and_empty_fronts_are_refused) {
  const std::vector<Evaluation> points = {point(100, 1000)};
  for (const char* how : {"best:speed", "best:cost", "fastest", ""}) {
    EXPECT_EQ(test::error_of([&] { pick_point(points, objectives, how); }).exit_code(),
              ExitCode::refused);
  }
  const SearchedFront none{.title = "s", .nearest_miss = "nearest: x"};
  EXPECT_THAT(test::error_of([&] { pick_point(none, ""); }).line(), HasSubstr("nearest: x"));
}

}  // namespace
}  // namespace halmark
