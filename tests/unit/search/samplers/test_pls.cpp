// Pareto local search: after its first points everything proposed is a neighbour of the front.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "convex_problem.hpp"
#include "sample_spaces.hpp"
#include "search/pareto/pareto.hpp"

namespace halmark {
namespace {

using namespace test;

TEST(Pls, begins_with_ten_sobol_points) {
  const Space space({continuum("x"), continuum("y")}, {});
  EXPECT_EQ(sobol_trials("pls", space, 30, {.seed = 3}, sum_told), 10u);
}

// The levels beside a point of 4^6: previous and next of each parameter.
std::vector<Point> beside(const Point& p) {
  std::vector<Point> out;
  for (std::size_t d = 0; d < p.size(); ++d) {
    for (const double level : {p[d] - 1, p[d] + 1}) {
      if (level < 0 || level > 3) continue;
      out.push_back(p);
      out.back()[d] = level;
    }
  }
  return out;
}

TEST(Pls, proposes_a_level_beside_a_point_of_the_front_while_one_is_new) {
  const Space space = convex_space();
  const auto sampler = make_sampler("pls", space, {.seed = 8});
  std::vector<Told> told;
  std::vector<Objectives> values;
  std::set<Point> known;
  int judged = 0;
  for (int trial = 0; trial < 150; ++trial) {
    const Point next = sampler->ask(1).front();
    std::set<Point> expected;
    for (const std::size_t i : non_dominated(values)) {
      for (const Point& p : beside(told[i].point)) {
        if (!known.contains(p)) expected.insert(p);
      }
    }
    if (trial >= 10 && !expected.empty()) {
      EXPECT_TRUE(expected.contains(next)) << "trial " << trial;
      ++judged;
    }
    told.push_back(evaluate_convex({next}, 1).front());
    values.push_back(told.back().objectives);
    known.insert(next);
    sampler->tell({told.back()});
  }
  EXPECT_GT(judged, 100);
}

// One objective, one optimum in the middle: nothing but single steps down is needed.
TEST(Pls, walks_down_to_the_optimum) {
  const Space space({levels("a", 40), levels("b", 40)}, {});
  const auto value = [](const Point& p) {
    return Told{.point = p, .objectives = {std::abs(p[0] - 21) + std::abs(p[1] - 13)}};
  };
  const auto sampler = make_sampler("pls", space, {.seed = 1});
  EXPECT_EQ(best_of(search(*sampler, 120, value)), 0);
}

}  // namespace
}  // namespace halmark
