// NSGA-III: as many members as reference directions.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "problem.hpp"
#include "sample_spaces.hpp"

namespace halmark {
namespace {

using namespace test;

// Das and Dennis: d divisions of m objectives give C(d + m - 1, m - 1) directions; the most that
// are no more than 100, and 20 members at least.
TEST(Nsga3, begins_with_a_sobol_point_per_direction) {
  const Space space({continuum("x"), continuum("y"), continuum("z")}, {});
  const std::map<std::size_t, std::size_t> members = {{1, 20}, {2, 50}, {3, 91}, {4, 84}, {5, 70}};
  for (const auto& [objectives, expected] : members) {
    const auto value = [m = objectives](const Point& p) {
      Told out{.point = p};
      for (std::size_t k = 0; k < m; ++k) out.objectives.push_back(p[k % 3] * (k < 3 ? 1 : -1));
      return out;
    };
    EXPECT_EQ(sobol_trials("nsga3", space, 110, {.seed = 3}, value), expected) << objectives;
  }
}

TEST(Nsga3, comes_closer_to_the_sphere_of_dtlz2_than_random_points) {
  const problems::Problem problem = problems::dtlz2();
  const Space space(problem.description);
  // The front is the unit sphere; a point's distance beyond it is what is left to gain.
  const auto mean_excess = [&](const char* name) {
    const auto sampler = make_sampler(name, space, {.seed = 2, .trials = 500});
    const std::vector<Told> told = problems::run(problem, space, *sampler, 500);
    double sum = 0;
    for (std::size_t i = 400; i < 500; ++i) {
      double squares = 0;
      for (const double f : told[i].objectives) squares += f * f;
      sum += std::sqrt(squares) - 1;
    }
    return sum / 100;
  };
  EXPECT_LT(mean_excess("nsga3"), 0.5 * mean_excess("random"));
}

}  // namespace
}  // namespace halmark
