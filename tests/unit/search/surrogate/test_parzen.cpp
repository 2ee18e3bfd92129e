// Mixtures against what a density is: it sums up to one over everything that can be drawn, and what
// is drawn follows it. And the share of failures around a point, by hand.
#include "search/surrogate/parzen.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "../samplers/sample_spaces.hpp"
#include "search/surrogate/failure_model.hpp"

namespace halmark {
namespace {

using Form = ParzenMixture::Form;
using test::categories;
using test::continuum;
using test::levels;

Space small() { return Space({categories("kind", 3), levels("size", 5)}, {}); }

ParzenMixture mixture_of(const Space& space, const std::vector<Point>& points) {
  ParzenMixture out;
  for (const Point& p : points) out.add(space, p);
  return out;
}

TEST(Parzen, a_density_over_few_levels_is_one_on_average) {
  const Space space = small();
  const ParzenMixture mixture = mixture_of(space, {{0, 0}, {2, 4}, {2, 3}});
  for (const double width : {0.05, 0.2, 0.7}) {
    const ParzenKernels kernels(space, width);
    for (const Form form : {Form::joint, Form::independent}) {
      double sum = 0;
      for (double kind = 0; kind < 3; ++kind) {
        for (double size = 0; size < 5; ++size) sum += mixture.density(kernels, {kind, size}, form);
      }
      EXPECT_NEAR(sum / 15, 1, 1e-12) << width;
    }
  }
}

// One category keeps 1 - width and leaves the rest to the others alike; neighbours in an order fall
// as a Gaussian of width x levels, and no narrower than half a level.
TEST(Parzen, a_component_is_the_kernel_of_its_kind) {
  const Space space = small();
  const ParzenKernels kernels(space, 0.3);
  const auto own = kernels.column(0, 1);
  ASSERT_EQ(own.size(), 4u);
  EXPECT_NEAR(own[1], 3 * 0.7, 1e-12);
  EXPECT_NEAR(own[0], 3 * 0.15, 1e-12);
  EXPECT_NEAR(own[3], 1, 1e-12) << "an absent centre says nothing";
  for (const double width : {0.01, 0.3}) {
    const ParzenKernels ordered(space, width);
    const double deviation = std::max(width * 4, 0.5);
    const double near = ordered.column(1, 3)[2], at = ordered.column(1, 2)[2];
    EXPECT_NEAR(near / at, std::exp(-0.5 / (deviation * deviation)), 1e-12) << width;
  }
  // Long orders and continua have no table.
  EXPECT_TRUE(ParzenKernels(Space({levels("n", 129)}, {}), 0.1).has_untabled());
  EXPECT_FALSE(ParzenKernels(Space({levels("n", 128)}, {}), 0.1).has_untabled());
  EXPECT_TRUE(ParzenKernels(Space({continuum("x")}, {}), 0.1).has_untabled());
}

TEST(Parzen, of_a_continuum_is_the_normal_density) {
  const Space space({continuum("x"), continuum("y")}, {});
  const ParzenKernels kernels(space, 0.1);
  const auto normal = [](double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1)); };
  const Point a{0.5, 0.25}, b{0.4, 0.35};
  const double x = normal(1) / 0.1, y = normal(-1) / 0.1;
  EXPECT_NEAR(kernels.untabled_density(0, a[0], b[0]), x, 1e-9);
  EXPECT_NEAR(kernels.untabled_density(a.data(), b.data()), x * y, 1e-9);
  const ParzenMixture mixture = mixture_of(space, {b});
  EXPECT_NEAR(mixture.density(kernels, a, Form::joint), (1 + x * y) / 2, 1e-9);
  EXPECT_NEAR(mixture.density(kernels, a, Form::independent), (1 + x) / 2 * (1 + y) / 2, 1e-9);
}

// 20,000 draws; four standard deviations of each count.
TEST(Parzen, draws_follow_the_density) {
  const Space space = small();
  const ParzenMixture mixture = mixture_of(space, {{0, 0}, {2, 4}, {2, 3}});
  const ParzenKernels kernels(space, 0.3);
  for (const Form form : {Form::joint, Form::independent}) {
    std::map<Point, int> counts;
    Effort effort;
    constexpr int draws = 20'000;
    for (int i = 0; i < draws; ++i) {
      effort.begin();
      Stream random(5, static_cast<std::uint64_t>(i), 0);
      ++counts[mixture.draw(kernels, form, random, effort)];
    }
    for (double kind = 0; kind < 3; ++kind) {
      for (double size = 0; size < 5; ++size) {
        const double expected = draws * mixture.density(kernels, {kind, size}, form) / 15;
        EXPECT_NEAR(counts[Point({kind, size})], expected, 4 * std::sqrt(expected) + 1)
            << kind << ' ' << size;
      }
    }
  }
}

TEST(Parzen, draws_of_a_continuum_stay_inside_and_have_its_width) {
  const Space space({continuum("x")}, {});
  const ParzenKernels kernels(space, 0.1);
  double sum = 0, squares = 0;
  constexpr int draws = 20'000;
  Stream random(6, 0, 0);
  for (int i = 0; i < draws; ++i) {
    const double x = kernels.draw(0, 0.5, random);
    sum += x;
    squares += (x - 0.5) * (x - 0.5);
    const double end = kernels.draw(0, 0, random);
    ASSERT_TRUE(end >= 0 && end <= 1);
  }
  EXPECT_NEAR(sum / draws, 0.5, 0.003);
  EXPECT_NEAR(std::sqrt(squares / draws), 0.1, 0.003);
}

Trial trial(Point point, TrialOutcome outcome) {
  Trial out;
  out.point = std::move(point);
  out.outcome = outcome;
  return out;
}

// One failure at level 0 of 5 and one success at level 4: each weighs 0.35 a level, the prior 0.2
// of Laplace's (1 + 1) / (2 + 2).
TEST(FailureModel, the_nearer_a_failure_the_less_likely_is_success) {
  const Space space({levels("size", 5)}, {});
  FailureModel model(space);
  model.learn(trial({4}, TrialOutcome::complete));
  EXPECT_EQ(model.success({0}), 1) << "nothing has failed";
  model.learn(trial({0}, TrialOutcome::failed));
  double before = 0;
  for (const double at : {0.0, 1.0, 2.0, 3.0, 4.0}) {
    const double bad = std::pow(0.35, at), good = std::pow(0.35, 4 - at);
    const double expected = (0.2 * 0.5 + good) / (0.2 + good + bad);
    EXPECT_NEAR(model.success({at}), expected, 1e-9) << at;
    EXPECT_GT(model.success({at}), before);
    before = model.success({at});
  }
}

TEST(FailureModel, categories_are_one_step_apart_and_strangers_say_nothing) {
  const Space space({categories("kind", 9)}, {});
  FailureModel model(space);
  model.learn(trial({0}, TrialOutcome::failed));
  const double share = 1.0 / 3;  // (0 + 1) / (1 + 2)
  EXPECT_NEAR(model.success({0}), 0.2 * share / 1.2, 1e-12);
  EXPECT_NEAR(model.success({8}), 0.2 * share / (0.2 + 0.35), 1e-12);
  const Space wide({levels("a", 100), levels("b", 100)}, {});
  FailureModel far(wide);
  far.learn(trial({0, 0}, TrialOutcome::failed));
  EXPECT_NEAR(far.success({99, 99}), share, 1e-12) << "more than six steps away";
}

}  // namespace
}  // namespace halmark
