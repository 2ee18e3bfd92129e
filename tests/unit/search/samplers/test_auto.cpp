// What is taken when nobody chose: a grid that the budget covers, else Sobol points and a
// portfolio.
#include <gtest/gtest.h>

#include <algorithm>

#include "sample_spaces.hpp"

namespace halmark {
namespace {

using namespace test;

Told sum_of(const Point& p) {
  double sum = 0;
  for (const double x : p) sum += x;
  return {.point = p, .objectives = {sum}};
}

TEST(Auto, is_the_grid_where_the_budget_covers_the_space) {
  const Space space = odd_space();
  const std::vector<Point> grid = ask_all(*make_sampler("grid", space, 3), 30);
  const auto points = [&](std::size_t trials) {
    return make_sampler("auto", space, {.seed = 3, .trials = trials})->ask(5);
  };
  const std::vector<Point> first(grid.begin(), grid.begin() + 5);
  EXPECT_EQ(points(30), first);
  EXPECT_NE(points(29), first);
  EXPECT_NE(make_sampler("auto", space, {.seed = 3, .trials = 30})->state().find("grid"),
            std::string::npos);
}

TEST(Auto, begins_with_twelve_sobol_points_and_asks_all_of_its_members_afterwards) {
  const Space space({continuum("x"), continuum("y")}, {});
  const SamplerOptions options{.seed = 3, .trials = 100};
  EXPECT_EQ(sobol_trials("auto", space, 30, options, sum_of), 12u);
  const auto sampler = make_sampler("auto", space, options);
  EXPECT_EQ(sampler->state(), "auto: sobol, to begin with");
  search(*sampler, 60, sum_of);
  for (const char* member : {"gp", "tpe", "nsga2", "pls"}) {
    EXPECT_NE(sampler->state().find(member), std::string::npos) << sampler->state();
  }
}

// Where points are known by what they promise, those come first in that order, in spaces of any
// size, and go on as one of the sources.
TEST(Auto, begins_with_the_points_that_promise_most) {
  const Space space = odd_space();
  std::vector<Point> listed = ask_all(*make_sampler("grid", space, 3), 30);
  std::ranges::reverse(listed);
  const SamplerOptions options{.seed = 3, .trials = 20, .first = listed};
  const auto sampler = make_sampler("auto", space, options);
  EXPECT_EQ(sampler->state(), "auto: listed, to begin with");
  std::vector<Point> asked;
  std::vector<Told> told;
  const auto ask = [&](Sampler& of, std::size_t count) {
    std::vector<Told> now;
    for (const Point& p : of.ask(count)) now.push_back(sum_of(p));
    of.tell(now);
    return now;
  };
  for (int i = 0; i < 3; ++i) {
    for (Told& t : ask(*sampler, 4)) {
      asked.push_back(t.point);
      told.push_back(std::move(t));
    }
  }
  EXPECT_EQ(asked, std::vector<Point>(listed.begin(), listed.begin() + 12));
  EXPECT_NE(sampler->state().find("listed "), std::string::npos) << sampler->state();
  // Told again, the study goes on as it did.
  const auto again = make_sampler("auto", space, options);
  again->tell(told);
  EXPECT_EQ(again->ask(5), sampler->ask(5));
  const Space small({levels("x", 4)}, {});
  const SamplerOptions of_four{.seed = 3, .first = {{2}, {0}, {3}}};
  EXPECT_EQ(make_sampler("auto", small, of_four)->ask(9), (std::vector<Point>{{2}, {0}, {3}, {1}}));
}

// A trial that is told again says who had proposed it: that member gets the credit, whoever would
// be drawn now.
TEST(Auto, credits_who_proposed_a_trial) {
  const Space space({continuum("x"), continuum("y")}, {});
  const auto state = [&](const std::string& proposer) {
    const auto sampler = make_sampler("auto", space, {.seed = 3, .trials = 100});
    for (int i = 0; i < 60; ++i) {
      Told told = sum_of({1 - 0.01 * i, 1 - 0.01 * i});
      told.proposer = proposer;
      sampler->tell({told});
    }
    return sampler->state();
  };
  const auto share = [&](const std::string& proposer, const std::string& member) {
    const std::string text = state(proposer);
    return std::stoi(text.substr(text.find(member + ' ') + member.size() + 1));
  };
  for (const char* member : {"gp", "tpe", "nsga2", "pls"}) {
    EXPECT_GT(share(member, member), share("uniform", member)) << state(member);
  }
}

}  // namespace
}  // namespace halmark
