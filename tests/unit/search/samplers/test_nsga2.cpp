// NSGA-II: selection by rank and crowding, infeasible trials behind feasible ones.
#include <gtest/gtest.h>

#include "convex_problem.hpp"
#include "sample_spaces.hpp"
#include "search/loop.hpp"
#include "search/pareto/pareto.hpp"

namespace halmark {
namespace {

using namespace test;

double volume_of(const std::vector<Told>& told) {
  std::vector<Objectives> points;
  for (const Told& t : told) points.push_back(t.objectives);
  return hypervolume(points, Objectives{6, 6});
}

TEST(Nsga2, covers_more_of_a_convex_problem_than_a_grid_that_is_cut_off) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Space space = convex_space();
    const auto told = [&](const char* name) {
      const auto sampler = make_sampler(name, space, seed);
      return run_search(*sampler, {.trials = 300, .batch = 8},
                        {.evaluate = [&](const auto& p) { return evaluate_convex(p, seed); }})
          .told;
    };
    const double grid = volume_of(told("grid")), nsga2 = volume_of(told("nsga2"));
    EXPECT_GT(nsga2, grid) << "seed " << seed;
    std::vector<Point> all;
    for (std::size_t i = 0; i < space.size(); ++i) all.push_back(space.point(i));
    const double best = volume_of(evaluate_convex(all, seed));
    EXPECT_GT(nsga2, 0.98 * best) << "seed " << seed;
    EXPECT_LE(nsga2, best * (1 + 1e-12));
  }
}

// A small budget has a small population; both begin with Sobol points.
TEST(Nsga2, begins_with_a_population_of_sobol_points) {
  const Space space({continuum("x"), continuum("y")}, {});
  const auto value = [](const Point& p) {
    return Told{.point = p, .objectives = {p[0], 1 - p[0]}};
  };
  EXPECT_EQ(sobol_trials("nsga2", space, 60, {.seed = 3, .trials = 299}, value), 20u);
  EXPECT_EQ(sobol_trials("nsga2", space, 60, {.seed = 3, .trials = 300}, value), 50u);
  EXPECT_EQ(sobol_trials("nsga2", space, 60, {.seed = 3}, value), 50u);
}

// Half of the space breaks a limit that nobody knew; what is bred comes from what breaks least.
TEST(Nsga2, leaves_the_infeasible_half_behind) {
  const Space space({continuum("x"), continuum("y")}, {});
  const auto value = [](const Point& p) {
    Told out{.point = p, .objectives = {p[0] + p[1]}};
    if (p[0] + p[1] < 1) {
      out.outcome = TrialOutcome::infeasible;
      out.violations = {1 - p[0] - p[1]};
    }
    return out;
  };
  const auto sampler = make_sampler("nsga2", space, {.seed = 5, .trials = 250});
  const std::vector<Told> told = search(*sampler, 250, value);
  // The best feasible value is 1, on the line between the halves.
  double best = 2;
  std::size_t near = 0;
  for (std::size_t i = 0; i < told.size(); ++i) {
    const double sum = told[i].objectives[0];
    if (sum >= 1) best = std::min(best, sum);
    if (i >= 150 && sum > 0.9 && sum < 1.2) ++near;
  }
  EXPECT_LT(best, 1.01);
  EXPECT_GT(near, 60u) << "of 100";
}

}  // namespace
}  // namespace halmark
