// A closed-form deployment problem of 294 912 mixed points whose front was computed elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "problem.hpp"

namespace halmark {
namespace {

using problems::mix6_objectives;

std::vector<Objectives> all_points() {
  std::vector<Objectives> out;
  for (int dtype = 0; dtype < 4; ++dtype)
    for (int strategy = 0; strategy < 4; ++strategy)
      for (int shards_log2 = 0; shards_log2 < 6; ++shards_log2)
        for (int batch = 8; batch <= 256; batch += 8)
          for (int tile = 16; tile <= 256; tile += 16)
            for (int stages = 1; stages <= 6; ++stages)
              out.push_back(mix6_objectives(dtype, strategy, shards_log2, batch, tile, stages));
  return out;
}

void expect_near(const Objectives& got, const Objectives& wanted) {
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    EXPECT_NEAR(got[d], wanted[d], 1e-12 * std::fabs(wanted[d])) << "objective " << d;
  }
}

TEST(KnownFront, the_problem_gives_its_published_check_values) {
  expect_near(mix6_objectives(0, 0, 0, 8, 16, 1),
              {6.006841540212434, -1.3318147226698902, 0.9746117502845206});
  expect_near(mix6_objectives(3, 1, 3, 128, 128, 4),
              {0.7412306439343895, -172.68579091736794, 0.022919127959014445});
  expect_near(mix6_objectives(2, 2, 5, 256, 64, 6),
              {1.7768124770906168, -144.07823183410935, 0.18905898165451077});
  expect_near(mix6_objectives(1, 3, 2, 64, 256, 6),
              {6.444080589458225, -9.9315952231722, 0.403530540525253});
}

TEST(KnownFront, front_size_corners_and_hypervolume_are_the_published_ones) {
  const std::vector<Objectives> points = all_points();
  ASSERT_EQ(points.size(), 294912u);
  std::vector<Objectives> front;
  for (const std::size_t i : non_dominated(points)) front.push_back(points[i]);
  std::ranges::sort(front);
  front.erase(std::unique(front.begin(), front.end()), front.end());
  EXPECT_EQ(front.size(), 222u);
  Objectives ideal = front[0], nadir = front[0];
  for (const Objectives& p : front) {
    for (std::size_t d = 0; d < 3; ++d) {
      ideal[d] = std::min(ideal[d], p[d]);
      nadir[d] = std::max(nadir[d], p[d]);
    }
  }
  expect_near(ideal, {0.060317936371674985, -1977.3407064583798, 0.013542567659173572});
  expect_near(nadir, {4.142938024409922, -53.61326130125762, 0.047100491831847474});
  for (Objectives& p : front) {
    for (std::size_t d = 0; d < 3; ++d) p[d] = (p[d] - ideal[d]) / (nadir[d] - ideal[d]);
  }
  EXPECT_NEAR(hypervolume(front, Objectives{1.1, 1.1, 1.1}), 1.2399160823936026, 1e-11);
}

}  // namespace
}  // namespace halmark
