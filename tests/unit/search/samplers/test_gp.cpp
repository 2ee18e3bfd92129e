// Gaussian processes: few trials where objectives are smooth.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sample_spaces.hpp"

namespace halmark {
namespace {

using namespace test;

// 2 d + 2 points, at most 24.
TEST(Gp, begins_with_sobol_points_by_its_dimensions) {
  for (const auto& [dimensions, expected] :
       {std::pair{2, 6u}, std::pair{3, 8u}, std::pair{14, 24u}}) {
    std::vector<SearchDomain> domains;
    for (int d = 0; d < dimensions; ++d) domains.push_back(continuum("x" + std::to_string(d)));
    const Space space(domains, {});
    const auto value = [](const Point& p) {
      return Told{.point = p, .objectives = {std::pow(p[0] - 0.3, 2) + std::pow(p[1] - 0.6, 2)}};
    };
    EXPECT_EQ(sobol_trials("gp", space, 26, {.seed = 3}, value), expected) << dimensions;
  }
}

TEST(Gp, finds_the_bottom_of_a_bowl_in_thirty_trials_of_ten_thousand) {
  const Space space({levels("a", 100), levels("b", 100)}, {});
  const auto value = [](const Point& p) {
    const double x = (p[0] - 70) / 100, y = (p[1] - 20) / 100;
    return Told{.point = p, .objectives = {x * x + y * y + 0.5 * x * y}};
  };
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto sampler = make_sampler("gp", space, {.seed = seed, .trials = 30});
    EXPECT_LT(best_of(search(*sampler, 30, value)), 0.002) << seed;
  }
}

}  // namespace
}  // namespace halmark
