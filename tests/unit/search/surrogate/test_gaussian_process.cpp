#include "search/surrogate/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/numeric/random.hpp"

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
  std::vector<double> at{-0.3, 0.4, 0.8, -5, 0.3}, gradient;
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

// An inactive ordered parameter has a place of its own beside the range, as far from all of it as
// there is in a plane: with a distance that no such place has, matrices of correlations are not
// positive definite.
TEST(GaussianProcess, distances_to_an_absent_value_are_distances_between_places) {
  SpaceDescription description;
  description.domains = {{.name = "strategy", .values = {ParamValue("a"), ParamValue("b")}},
                         {.name = "stages", .kind = DomainKind::integer, .low = 1, .high = 9}};
  description.domains[1].when = "strategy == 'b'";
  const Space space(description);
  const Features features(space);
  // Squared distances d of places: no sum of c_i c_j d_ij is above zero where the c add up to zero.
  std::vector<double> at{-1};
  for (int level = 0; level <= 8; ++level) at.push_back(level / 8.0);
  for (std::uint64_t draw = 0; draw < 2000; ++draw) {
    std::vector<double> c;
    double sum = 0, form = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      c.push_back(uniform_01(hash_u64(draw, i)) - 0.5);
      sum += c.back();
    }
    for (double& x : c) x -= sum / static_cast<double>(c.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (std::size_t j = 0; j < at.size(); ++j) {
        form += c[i] * c[j] * features.squared(1, at[i], at[j]);
      }
    }
    ASSERT_LE(form, 1e-12) << "draw " << draw;
  }
}

// Nothing but a bound ends this where a matrix is not positive definite for any jitter.
TEST(GaussianProcess, an_observation_that_no_jitter_makes_room_for_is_left_out) {
  const Space space = mixed_space();
  const Features features(space);
  GaussianProcess process(features);
  const Data data = sample(space, features, 12, 1);
  process.fit(data.rows, data.targets, 5, 0);
  process.clear();
  const double nan = std::nan("");
  for (std::size_t i = 0; i < data.targets.size(); ++i) {
    process.add({&data.rows[3 * i], 3}, data.targets[i]);
    process.add(std::vector<double>{nan, nan, 1}, 1);
  }
  EXPECT_EQ(process.size(), data.targets.size());
  EXPECT_TRUE(std::isfinite(process.predict({&data.rows[0], 3}).mean));
}

TEST(GaussianProcess, learns_a_smooth_mixed_function) {
  const Space space = mixed_space();
  const Features features(space);
  GaussianProcess process(features);
  const Data data = sample(space, features, 60, 1);
  process.fit(data.rows, data.targets, 40, 0);
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

// Twelve parameters, each with a bend of its own: five observations a parameter are enough, because
// what they do on their own needs no knowledge of how they act together.
TEST(GaussianProcess, learns_what_many_parameters_do_on_their_own_from_few_observations) {
  constexpr std::size_t width = 12, count = 60;
  std::vector<SearchDomain> domains;
  for (std::size_t d = 0; d < width; ++d) {
    domains.push_back(
        {.name = "x" + std::to_string(d), .kind = DomainKind::real, .low = 0, .high = 1});
  }
  const Space space(domains, {});
  const Features features(space);
  const auto bowl = [](std::span<const double> x) {
    double sum = 0;
    for (std::size_t d = 0; d < width; ++d) {
      sum += std::pow(x[d] - 0.3 - 0.03 * static_cast<double>(d), 2);
    }
    return sum;
  };
  GaussianProcess process(features);
  std::vector<double> rows, targets;
  for (std::size_t i = 0; i < count; ++i) {
    features.append(space.draw(hash_combine(7, i)).value(), rows);
    targets.push_back(bowl(std::span(rows).subspan(width * i, width)));
  }
  process.fit(rows, targets, 40, 30);
  process.clear();
  for (std::size_t i = 0; i < count; ++i) {
    process.add(std::span(rows).subspan(width * i, width), targets[i]);
  }
  double errors = 0, spread = 0, centre = 0;
  std::vector<double> fresh;
  for (std::size_t i = 0; i < 200; ++i) {
    features.append(space.draw(hash_combine(8, i)).value(), fresh);
    centre += bowl(std::span(fresh).subspan(width * i, width)) / 200;
  }
  for (std::size_t i = 0; i < 200; ++i) {
    const auto x = std::span(fresh).subspan(width * i, width);
    errors += std::pow(process.predict(x).mean - bowl(x), 2);
    spread += std::pow(bowl(x) - centre, 2);
  }
  EXPECT_LT(errors, 0.1 * spread) << "nine tenths of the variance are explained";
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
