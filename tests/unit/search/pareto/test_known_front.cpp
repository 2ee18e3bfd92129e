// A closed-form deployment problem of 294 912 mixed points whose front was computed elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "search/pareto/pareto.hpp"

namespace halmark {
namespace {

struct Setting {
  int dtype, strategy, shards_log2, batch, tile, stages;
};

enum Strategy { data, tensor, pipeline, sequence };

// Latency, negated throughput, energy.
Objectives evaluate(const Setting& s) {
  constexpr double rates[] = {1, 4, 8, 16}, widths[] = {4, 4, 2, 1},
                   powers[] = {1, 0.8, 0.65, 0.55};
  const double rate = rates[s.dtype], by = widths[s.dtype], power = powers[s.dtype];
  const double q = s.shards_log2, p = std::ldexp(1.0, s.shards_log2);
  const double b = s.batch, t = s.tile, k = s.stages;
  double eff = (1 - 0.35 * std::exp(-k / 2)) / (1 + ((t - 128) / 96) * ((t - 128) / 96));
  if (t * k * by > 2048) eff /= 2;
  const double work = 0.25 * b / (rate * eff), mem = 0.02 * by + 0.0005 * b * by, m = 4 + k;
  double par = p, comm = 0;
  switch (s.strategy) {
    case data:
      par = 1;
      comm = 0.01 * q * by;
      break;
    case tensor:
      comm = 0.0012 * b * q * by;
      break;
    case pipeline:
      par = p * m / (m + p - 1);
      comm = 0.004 * (p - 1) * by;
      break;
    default:
      comm = 0.012 * std::sqrt(b) * q * by;
  }
  const double latency = std::max(work / par, mem / par) + comm + 0.01 * (1 + 0.2 * k);
  const double n = s.strategy == data ? b * p : b;
  const double busy = std::min(1.0, (work / par) / latency);
  return {latency, -n / latency, p * (0.3 + power * busy) * latency / n};
}

std::vector<Objectives> all_points() {
  std::vector<Objectives> out;
  Setting s{};
  for (s.dtype = 0; s.dtype < 4; ++s.dtype)
    for (s.strategy = 0; s.strategy < 4; ++s.strategy)
      for (s.shards_log2 = 0; s.shards_log2 < 6; ++s.shards_log2)
        for (s.batch = 8; s.batch <= 256; s.batch += 8)
          for (s.tile = 16; s.tile <= 256; s.tile += 16)
            for (s.stages = 1; s.stages <= 6; ++s.stages) out.push_back(evaluate(s));
  return out;
}

void expect_near(const Objectives& got, const Objectives& wanted) {
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    EXPECT_NEAR(got[d], wanted[d], 1e-12 * std::fabs(wanted[d])) << "objective " << d;
  }
}

TEST(KnownFront, the_problem_gives_its_published_check_values) {
  expect_near(evaluate({0, 0, 0, 8, 16, 1}),
              {6.006841540212434, -1.3318147226698902, 0.9746117502845206});
  expect_near(evaluate({3, 1, 3, 128, 128, 4}),
              {0.7412306439343895, -172.68579091736794, 0.022919127959014445});
  expect_near(evaluate({2, 2, 5, 256, 64, 6}),
              {1.7768124770906168, -144.07823183410935, 0.18905898165451077});
  expect_near(evaluate({1, 3, 2, 64, 256, 6}),
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
