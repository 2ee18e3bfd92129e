#include "search/surrogate/minimise.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

// Rosenbrock's valley, minimum 0 at (1, 1).
double valley(std::span<const double> x) {
  return 100 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(1 - x[0], 2);
}

TEST(Minimise, finds_the_end_of_a_curved_valley) {
  const std::vector<double> low{-2, -2}, high{2, 2}, start{-1.2, 1};
  const Minimum m = minimise(valley, low, high, start, {.evaluations_max = 5000, .starts = 2});
  EXPECT_NEAR(m.at[0], 1, 1e-3);
  EXPECT_NEAR(m.at[1], 1, 2e-3);
  EXPECT_LT(m.value, 1e-6);
  EXPECT_GT(m.evaluations, 0);
}

TEST(Minimise, stays_inside_its_bounds) {
  const std::vector<double> low{-2, -2}, high{0.5, 2}, start{-1.2, 1};
  const auto watched = [&](std::span<const double> x) {
    EXPECT_GE(x[0], low[0]);
    EXPECT_LE(x[0], high[0]);
    return valley(x);
  };
  const Minimum m = minimise(watched, low, high, start, {.evaluations_max = 4000, .starts = 2});
  // On the bound x = 0.5 the valley's floor is y = 0.25, value (1 - 0.5)^2.
  EXPECT_NEAR(m.value, 0.25, 1e-3);
}

// A saturating efficiency curve e(x) = e_max x / (x + h), fitted to exact values of itself.
TEST(Minimise, recovers_a_saturation_curve) {
  const auto residual = [](std::span<const double> p) {
    double sum = 0;
    for (const double x : {1.0, 4.0, 16.0, 64.0, 256.0}) {
      const double truth = 0.83 * x / (x + 24), fit = p[0] * x / (x + std::exp(p[1]));
      sum += std::pow(std::log(fit / truth), 2);
    }
    return sum;
  };
  const std::vector<double> low{0.05, 0}, high{1, 8}, start{0.3, 1};
  const Minimum m = minimise(residual, low, high, start, {.starts = 4});
  EXPECT_NEAR(m.at[0], 0.83, 1e-3);
  EXPECT_NEAR(std::exp(m.at[1]), 24, 0.1);
}

TEST(Minimise, what_is_no_number_is_worse_than_everything) {
  const auto hole = [](std::span<const double> x) { return x[0] < 0.5 ? std::nan("") : x[0]; };
  const std::vector<double> low{0}, high{1}, start{0.9};
  const Minimum m = minimise(hole, low, high, start, {.starts = 3});
  EXPECT_GE(m.at[0], 0.5);
  EXPECT_NEAR(m.value, 0.5, 0.02);
}

TEST(Minimise, a_start_outside_is_an_error_and_exceptions_come_through) {
  const std::vector<double> low{0}, high{1}, start{2}, inside{0.5};
  EXPECT_EQ(test::error_of([&] { minimise(valley, low, high, start, {}); }).exit_code(),
            ExitCode::error);
  const auto throws = [](std::span<const double>) -> double { throw std::runtime_error("no"); };
  EXPECT_THROW(minimise(throws, low, high, inside, {}), std::runtime_error);
}

}  // namespace
}  // namespace halmark
