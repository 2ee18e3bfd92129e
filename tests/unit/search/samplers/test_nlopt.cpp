// The continuous relaxation.
#include <gtest/gtest.h>

#include <cmath>

#include "sample_spaces.hpp"

namespace halmark {
namespace {

using namespace test;

TEST(Nlopt, begins_with_sixteen_sobol_points) {
  const Space space({continuum("x"), continuum("y")}, {});
  const auto value = [](const Point& p) {
    return Told{.point = p, .objectives = {std::pow(p[0] - 0.3, 2) + std::pow(p[1] - 0.6, 2)}};
  };
  EXPECT_EQ(sobol_trials("nlopt", space, 30, {.seed = 3}, value), 16u);
}

TEST(Nlopt, finds_the_bottom_of_a_smooth_bowl) {
  const Space space({continuum("x"), continuum("y")}, {});
  const auto value = [](const Point& p) {
    return Told{.point = p, .objectives = {std::pow(p[0] - 0.37, 2) + std::pow(p[1] - 0.61, 2)}};
  };
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto sampler = make_sampler("nlopt", space, {.seed = seed});
    EXPECT_LT(best_of(search(*sampler, 60, value)), 0.0015) << seed << ": 0.005 by chance";
  }
}

}  // namespace
}  // namespace halmark
