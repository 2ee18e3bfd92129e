// Simulated annealing: moves are mutations of the current point, and it grows colder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sample_spaces.hpp"

namespace halmark {
namespace {

using namespace test;

TEST(Anneal, begins_with_ten_sobol_points) {
  const Space space({continuum("x"), continuum("y")}, {});
  EXPECT_EQ(sobol_trials("anneal", space, 30, {.seed = 3}, sum_told), 10u);
}

// A bowl with a ripple of local minima. Early it roams, late it stays at the bottom.
TEST(Anneal, roams_first_and_settles_in_the_best_basin) {
  const Space space({levels("a", 200), levels("b", 200)}, {});
  const auto value = [](const Point& p) {
    const double x = (p[0] - 130) / 200, y = (p[1] - 40) / 200;
    const double ripple = 0.02 * (2 - std::cos(60 * x) - std::cos(60 * y));
    return Told{.point = p, .objectives = {x * x + y * y + ripple}};
  };
  const auto distance = [](const Point& p) { return std::hypot(p[0] - 130, p[1] - 40); };
  int settled = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    const auto sampler = make_sampler("anneal", space, {.seed = seed});
    const std::vector<Told> told = search(*sampler, 900, value);
    double early = 0, late = 0;
    for (std::size_t i = 10; i < 110; ++i) early += distance(told[i].point) / 100;
    for (std::size_t i = 800; i < 900; ++i) late += distance(told[i].point) / 100;
    EXPECT_LT(late, early) << seed;
    settled += best_of(told) < 0.01 ? 1 : 0;
  }
  EXPECT_GE(settled, 3) << "of 4; 0 at the bottom";
}

}  // namespace
}  // namespace halmark
