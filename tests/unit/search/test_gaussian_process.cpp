#include "search/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.hpp"

namespace halmark {
namespace {

Space mixed_space() {
  SearchDomain real{.name = "x", .kind = DomainKind::real, .low = 0, .high = 1};
  SearchDomain other{.name = "y", .kind = DomainKind::real, .low = 0, .high = 1};
  SearchDomain choice{.name = "c", .values = {ParamValue("a"), ParamValue("b"), ParamValue("d")}};
  return {{real, other, choice}, {}};
}

double truth(const Point& p) {
  return std::sin(3 * p[0]) + p[1] * p[1] + (p[2] == 1 ? 0.5 : p[2] == 2 ? -0.3 : 0);
}

struct Data {
  std::vector<double> rows, targets;
};

Data sample(const Space& space, const Features& features, std::uint64_t count, std::uint64_t seed) {
  Data out;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Point p = space.draw(hash_combine(seed, i)).value();
    features.append(p, out.rows);
    out.targets.push_back(truth(p));
  }
  return out;
}

TEST(GaussianProcess, the_gradient_of_the_likelihood_is_that_of_finite_differences) {
  const Space space = mixed_space();
  const Features features(space);
  const GaussianProcess process(features);
  const Data data = sample(space, features, 25, 3);
  std::vector<double> at{-0.3, 0.4, 0.8, -5}, gradient;
  process.likelihood(data.rows, data.targets, at, &gradient);
  for (std::size_t p = 0; p < at.size(); ++p) {
    constexpr double h = 1e-5;
    std::vector<double> up = at, down = at;
    up[p] += h;
    down[p] -= h;
    const double slope = (process.likelihood(data.rows, data.targets, up, nullptr) -
                          process.likelihood(data.rows, data.targets, down, nullptr)) /
                         (2 * h);
    EXPECT_NEAR(gradient[p], slope, 1e-4 * (1 + std::abs(slope))) << "parameter " << p;
  }
}

TEST(GaussianProcess, learns_a_smooth_mixed_function) {
  const Space space = mixed_space();
  const Features features(space);
  GaussianProcess process(features);
  const Data data = sample(space, features, 60, 1);
  process.fit(data.rows, data.targets, 40);
  process.clear();
  for (std::size_t i = 0; i < data.targets.size(); ++i) {
    process.add(std::span(data.rows).subspan(3 * i, 3), data.targets[i]);
  }
  const Data fresh = sample(space, features, 200, 2);
  double squares = 0;
  int inside = 0;
  for (std::size_t i = 0; i < fresh.targets.size(); ++i) {
    const auto p = process.predict(std::span(fresh.rows).subspan(3 * i, 3));
    squares += std::pow(p.mean - fresh.targets[i], 2);
    inside += std::abs(p.mean - fresh.targets[i]) <= 2 * p.deviation + 1e-9 ? 1 : 0;
  }
  EXPECT_LT(std::sqrt(squares / 200), 0.03) << "the function itself spreads by about 0.5";
  EXPECT_GT(inside, 170) << "of 200 within two deviations";
}

TEST(GaussianProcess, a_probe_that_is_kept_predicts_what_a_fresh_one_does) {
  const Space space = mixed_space();
  const Features features(space);
  GaussianProcess process(features);
  process.clear();
  const Data data = sample(space, features, 30, 5);
  const std::vector<double> place{0.3, 0.6, 2};
  GaussianProcess::Probe probe;
  for (std::size_t i = 0; i < 30; ++i) {
    process.add(std::span(data.rows).subspan(3 * i, 3), data.targets[i]);
    const auto kept = process.predict(place, probe), fresh = process.predict(place);
    ASSERT_EQ(kept.mean, fresh.mean);
    ASSERT_EQ(kept.deviation, fresh.deviation);
  }
}

TEST(GaussianProcess, returns_what_it_was_told_where_it_was_told) {
  const Space space = mixed_space();
  const Features features(space);
  GaussianProcess process(features);
  process.clear();
  const Data data = sample(space, features, 20, 8);
  for (std::size_t i = 0; i < 20; ++i) {
    process.add(std::span(data.rows).subspan(3 * i, 3), data.targets[i]);
  }
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_NEAR(process.predict(std::span(data.rows).subspan(3 * i, 3)).mean, data.targets[i],
                0.01);
  }
}

}  // namespace
}  // namespace halmark
