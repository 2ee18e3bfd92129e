// Groups and picks on fronts whose answer can be read off.
#include <gmock/gmock.h>
#include <cmath>

#include <array>

#include "report/choice/grouping.hpp"
#include "report/choice/pick.hpp"
#include "tests/unit/expect.hpp"

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

TEST(Grouping, what_is_left_unsaid_is_counted) {
  EXPECT_EQ(alike_text(std::vector<PointGroup>{{0, {}}, {3, {}}}), "");
  EXPECT_THAT(alike_text(std::vector<PointGroup>{{0, {}}, {3, {4}}}),
              testing::StartsWith("and 1 that hardly differs from these"));
  EXPECT_THAT(alike_text(std::vector<PointGroup>{{0, {1, 2}}, {3, {4}}}),
              testing::StartsWith("and 3 that hardly differ from these"));
}

TEST(Pick, unknown_words_and_empty_fronts_are_refused) {
  const std::vector<Evaluation> points = {point(100, 1000)};
  for (const char* how : {"best:speed", "best:cost", "fastest", ""}) {
    EXPECT_EQ(test::error_of([&] { pick_point(points, objectives, how); }).exit_code(),
              ExitCode::refused);
  }
  const SearchedFront none{.title = "s", .nearest_miss = "nearest: x"};
  test::expect_error([&] { pick_point(none, ""); }, "nearest: x");
}

// A hundredth of 100 is 1: what is that far apart is not alike.
TEST(Grouping, the_share_is_of_the_smaller_value_and_its_end_is_outside) {
  const auto groups = [](double a, double b) {
    return group_points(std::vector{point(a, 1000), point(b, 1000)}, objectives, 0.01).size();
  };
  EXPECT_EQ(groups(100, 100.99), 1u);
  EXPECT_EQ(groups(100.99, 100), 1u);
  EXPECT_EQ(groups(100, 101), 2u);
  EXPECT_EQ(groups(101, 100), 2u);
  EXPECT_EQ(groups(0, 0), 1u) << "equal ones, though a share of nothing is nothing";
}

TEST(Grouping, what_has_no_value_is_alike_only_with_its_like) {
  constexpr std::array by_cost = {Objective::cost};
  Evaluation priced = point(100, 1000);
  priced.served->figures.usd_per_million_tokens = 2;
  const Evaluation free = point(100, 1000);
  EXPECT_EQ(group_points(std::vector{free, free}, by_cost, 0.01).size(), 1u);
  EXPECT_EQ(group_points(std::vector{free, priced}, by_cost, 0.01).size(), 2u);
}

TEST(Grouping, intervals_that_touch_overlap_whichever_end_is_the_greater) {
  const auto groups = [](double first_slow, double second_fast) {
    Evaluation a = point(100, 1000), b = point(120, 1000);
    for (Evaluation* e : {&a, &b}) {
      e->served->has_interval = true;
      e->served->fast = e->served->slow = e->served->figures;
    }
    a.served->slow.ttft_ns = first_slow;
    b.served->fast.ttft_ns = second_fast;
    return std::pair(group_points(std::vector{a, b}, objectives, 0.01).size(),
                     group_points(std::vector{b, a}, objectives, 0.01).size());
  };
  EXPECT_EQ(groups(110, 110), std::pair(std::size_t{1}, std::size_t{1}));
  EXPECT_EQ(groups(110, 111), std::pair(std::size_t{2}, std::size_t{2}));
}

TEST(Grouping, a_step_has_the_interval_of_its_estimate) {
  constexpr std::array by_latency = {Objective::latency};
  const auto step = [](double ns, double low, double high) {
    Evaluation out;
    out.estimate = Estimate{.step_ns = ns, .low_ns = low, .high_ns = high};
    return out;
  };
  const auto groups = [&](const Evaluation& a, const Evaluation& b) {
    return group_points(std::vector{a, b}, by_latency, 0.01).size();
  };
  EXPECT_EQ(groups(step(100, 90, 110), step(120, 110, 130)), 1u);
  EXPECT_EQ(groups(step(100, 90, 109), step(120, 110, 130)), 2u);
  EXPECT_EQ(groups(step(100, 110, 110), step(120, 110, 130)), 2u) << "no width, no interval";
}

// Logarithms over the range of each: the first is 1 from the best rate, the last 1 from the best
// time, and of the two between them the second is 0.48^2 + 0.52^2, the third 0.18^2 + 0.82^2 away.
TEST(Pick, the_knee_is_nearest_by_squares_of_logarithms) {
  const std::vector<Evaluation> points = {point(100, 1000), point(150, 1500), point(300, 3000),
                                          point(1000, 10000)};
  EXPECT_EQ(pick_point(points, objectives, "knee").index, 2u);
  EXPECT_EQ(pick_point(std::vector{point(100, 1000), point(1000, 10000)}, objectives, "knee").index,
            0u)
      << "of equals the first";
  EXPECT_EQ(pick_point(std::vector{point(300, 5), point(200, 5)}, objectives, "knee").index, 1u)
      << "what is the same everywhere does not count";
}

// What takes no time is infinitely better: then only whether a point is as good counts.
TEST(Pick, a_value_of_zero_is_out_of_reach) {
  const std::vector<Evaluation> points = {point(100, 9000), point(50, 9900), point(0, 1000)};
  const Pick knee = pick_point(points, objectives, "knee");
  EXPECT_EQ(knee.index, 1u);
  ASSERT_EQ(knee.gives_up.size(), 1u);
  EXPECT_THAT(knee.gives_up[0], HasSubstr("(much less)"));
  const std::vector<Evaluation> both = {point(0, 5), point(0, 6)};
  EXPECT_TRUE(pick_point(both, objectives, "knee").gives_up.empty());
}

TEST(Pick, says_which_point_is_better_and_by_what) {
  const std::vector<Evaluation> points = {point(100e6, 1000), point(250e6, 1500)};
  const Pick fast = pick_point(points, objectives, "best:ttft");
  EXPECT_THAT(fast.because, testing::StartsWith("picked for the best TTFT of the front, 100 "));
  ASSERT_EQ(fast.gives_up.size(), 1u);
  EXPECT_THAT(fast.gives_up[0], testing::StartsWith("1000 tokens/s, "));
  EXPECT_THAT(fast.gives_up[0], HasSubstr(", where point 2 has 1500"));
  EXPECT_THAT(fast.gives_up[0], testing::EndsWith("(1.5 times more)"));
  EXPECT_THAT(given_up(points, objectives, 1),
              ElementsAre(testing::AllOf(HasSubstr("where point 1 has 100 "),
                                         testing::EndsWith("(2.5 times less)"))));
  EXPECT_THAT(pick_point(points, objectives, "knee").because,
              testing::StartsWith("picked as the knee"));
}

TEST(Pick, refusals_say_what_can_be_picked) {
  const std::vector<Evaluation> points = {point(100, 1000)};
  const auto refusal = [&](const char* how) {
    return test::error_of([&] { pick_point(points, objectives, how); });
  };
  EXPECT_THAT(refusal("best:speed").line(), HasSubstr("'speed' is no objective"));
  EXPECT_THAT(refusal("best:cost").line(),
              test::has_all({"the points have no cost", "take knee, or another objective"}));
  EXPECT_THAT(refusal("fastest").line(), test::has_all({"'fastest' picks nothing", pick_help}));
}

TEST(Pick, of_a_front_nobody_asks_for_is_the_knee) {
  SearchedFront front{.title = "s"};
  for (const double ns : {100.0, 110.0, 1000.0}) {
    Evaluation e;
    e.estimate = Estimate{.step_ns = ns, .tokens_per_s = ns == 100 ? 1000 : 9000 + ns};
    front.points.push_back(e);
  }
  front.objectives = {Objective::latency, Objective::throughput};
  EXPECT_EQ(pick_point(front, "").index, 1u);
  EXPECT_EQ(pick_point(front, "best:throughput").index, 2u);
  test::expect_error([&] { pick_point(front, "cheapest"); }, "'cheapest' is of requests");
}

// Requests by TPOT in milliseconds and tokens/s per device: 50 ms are 20 tokens/s of a user.
SearchedFront requests(std::initializer_list<std::pair<double, double>> points) {
  SearchedFront out{.title = "s",
                    .objectives = {Objective::tpot, Objective::tokens_per_s_per_device}};
  for (const auto& [tpot_ms, rate] : points) {
    Evaluation e = point(100e6, rate);
    e.served->figures.tpot_ns = tpot_ms * 1e6;
    e.served->figures.tokens_per_s_per_device = rate;
    out.points.push_back(e);
  }
  return out;
}

TEST(Pick, of_requests_is_the_most_throughput_at_20_tokens_per_s_of_a_user) {
  struct Row {
    std::vector<std::pair<double, double>> points;
    std::size_t index;
    const char* because;
  };
  const Row rows[] = {
      {{{5, 100}, {50, 700}, {51, 900}}, 1, "of the 2 points with 20 tokens/s a user or more"},
      {{{49, 700}, {48, 700}}, 0, "of the 2 points"},
      // None is fast enough: of 900 and 810, which are within a tenth, the faster one; 805 is not.
      {{{60, 805}, {70, 810}, {80, 900}},
       1,
       "no point has 20 tokens/s a user (the fastest: 16.7)"}};
  for (const Row& row : rows) {
    SearchedFront front = requests({});
    for (const auto& p : row.points) front.points.push_back(requests({p}).points.front());
    for (const char* how : {"", "cheapest"}) {
      const Pick pick = pick_point(front, how);
      EXPECT_EQ(pick.index, row.index) << row.because;
      EXPECT_THAT(pick.because, HasSubstr(row.because));
    }
  }
  EXPECT_THAT(pick_point(requests({{5, 100}, {50, 700}}), "").gives_up,
              ElementsAre(HasSubstr("TPOT 50.0 ms, where point 1 has 5.00 ms")));
  EXPECT_EQ(pick_point(requests({{0, 5}, {0, 6}}), "").index, 1u) << "no token follows the first";
}

// Log-normal between ends that are 10 % apart from the value: a limit at the slow end is kept with
// 95 %, one at the value itself with a half.
TEST(Pick, with_levels_it_is_the_most_throughput_that_keeps_them_with_90_percent) {
  SearchedFront front = requests({{10, 100}, {20, 500}, {30, 900}});
  front.levels = {{.objective = Objective::tpot, .limit = 30e6}};
  EXPECT_EQ(pick_point(front, "").index, 2u) << "without intervals all of them keep it";
  EXPECT_THAT(pick_point(front, "").because, HasSubstr("P(SLO met) is not known"));
  for (Evaluation& e : front.points) {
    e.served->has_interval = true;
    e.served->fast = e.served->slow = e.served->figures;
    e.served->fast.tpot_ns /= 1.1;
    e.served->slow.tpot_ns *= 1.1;
  }
  EXPECT_EQ(pick_point(front, "").index, 1u);
  EXPECT_THAT(pick_point(front, "").because,
              HasSubstr("the most tokens/s per device of the 2 points with P(SLO met) >= 90 %"));
  front.levels.front().limit = 10e6;
  EXPECT_EQ(pick_point(front, "").index, 0u);
  EXPECT_THAT(
      pick_point(front, "").because,
      HasSubstr("no point has P(SLO met) >= 90 % (the highest: 50 %): the most tokens/s per "
                "device within 10 points of it"));
}

// A level at 1.1^(z / 1.645) of the value is kept with Phi(z): 89.2, 83.5 and 70 % are 1.237, 0.974
// and 0.524 deviations.
TEST(Pick, a_little_less_sure_is_taken_for_more_throughput_and_much_less_is_not) {
  SearchedFront front = requests({{1, 100}, {1, 330}, {1, 900}});
  front.levels = {{.objective = Objective::tpot, .limit = 10e6}};
  const double deviations[] = {1.237, 0.974, 0.524};
  for (std::size_t i = 0; i < 3; ++i) {
    ServedEstimate& e = *front.points[i].served;
    e.has_interval = true;
    e.figures.tpot_ns = 10e6 / std::pow(1.1, deviations[i] / 1.645);
    e.fast = e.slow = e.figures;
    e.fast.tpot_ns /= 1.1;
    e.slow.tpot_ns *= 1.1;
  }
  const Pick pick = pick_point(front, "");
  EXPECT_EQ(pick.index, 1u);
  EXPECT_THAT(pick.because, HasSubstr("(the highest: 89.2 %)"));
}

TEST(Pick, the_ends_of_a_front_are_the_best_of_each_objective) {
  const SearchedFront front = requests({{20, 500}, {10, 100}, {30, 900}, {30, 900}});
  EXPECT_THAT(ends_of(front.points, front.objectives), ElementsAre(1u, 2u));
  const std::vector<Objective> with_cost = {Objective::cost, Objective::tpot};
  EXPECT_THAT(ends_of(front.points, with_cost), ElementsAre(1u)) << "no point has a cost";
}

}  // namespace
}  // namespace halmark
