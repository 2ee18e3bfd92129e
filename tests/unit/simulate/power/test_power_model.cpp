

#include "core/numeric/random.hpp"
#include "power_fit.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::power {
namespace {

constexpr PowerModel plain = {
    .idle_w = 100, .limit_w = 500, .compute_w = 300, .memory_w = 200, .gap_s = 1e-5};

TEST(PowerModel, idles_and_ends_at_its_limit) {
  EXPECT_DOUBLE_EQ(power_w(plain, {}), 100);
  EXPECT_DOUBLE_EQ(power_w(plain, {0.5, 0.25}), 100 + 150 + 50);
  EXPECT_DOUBLE_EQ(power_w(plain, {1, 1}), 500);
  EXPECT_DOUBLE_EQ(power_w(plain, {0.5, 0}, 1e-5), 100 + 75) << "half of the loop is gaps";
}

TEST(PowerModel, more_work_draws_no_less) {
  for (double f = 0; f < 1; f += 0.1) {
    for (double b = 0; b < 1; b += 0.1) {
      EXPECT_LE(power_w(plain, {f, b}), power_w(plain, {f + 0.1, b}));
      EXPECT_LE(power_w(plain, {f, b}), power_w(plain, {f, b + 0.1}));
    }
  }
}

TEST(PowerModel, of_another_device_has_the_same_shares_of_its_limit) {
  Device device{.id = "h200", .power_w = 700};
  const auto known = power_model_of(device, Dtype::bf16);
  device.id = "other", device.power_w = 350;
  const auto scaled = power_model_of(device, Dtype::bf16);
  ASSERT_TRUE(known && scaled);
  EXPECT_TRUE(known->is_fitted);
  EXPECT_FALSE(scaled->is_fitted);
  EXPECT_DOUBLE_EQ(2 * power_w(*scaled, {0.3, 0.4}), power_w(*known, {0.3, 0.4}));
  device.power_w.reset();
  EXPECT_FALSE(power_model_of(device, Dtype::bf16));
}

TEST(PowerCap, of_a_product_is_paid_in_time_by_the_cube_root) {
  const Activity product = {1, 0};
  const Capped capped_product = capped(plain, product, 100 + 300 * 0.512);
  EXPECT_NEAR(capped_product.clock, 0.8, 1e-6);
  EXPECT_NEAR(capped_product.stretch, 1 / 0.8, 1e-6);
  EXPECT_TRUE(capped_product.is_kept);
  EXPECT_EQ(capped(plain, product, 400).stretch, 1) << "it draws no more than that anyway";
}

TEST(PowerCap, costs_a_kernel_nothing_while_it_waits_for_memory) {
  const Activity decode = {0.2, 0.8};
  const double full_w = power_w(plain, decode);
  const Capped slowed = capped(plain, decode, full_w - 40);
  EXPECT_LT(slowed.clock, 1);
  EXPECT_EQ(slowed.stretch, 1);
  EXPECT_LE(slowed.power_w, full_w - 40 + 1e-6);
}

TEST(PowerCap, below_what_the_lowest_clock_draws_is_kept_by_pauses) {
  const Capped low = capped(plain, {0, 1}, 150);
  EXPECT_TRUE(low.is_kept);
  EXPECT_NEAR(low.stretch, 4, 1e-6) << "a quarter of the bandwidth draws a quarter of 200 W";
  EXPECT_NEAR(low.power_w, 150, 1e-6);
}

TEST(PowerCap, below_what_the_device_idles_at_is_not_kept) {
  EXPECT_FALSE(capped(plain, {0.1, 1}, 90).is_kept);
}

TEST(PowerCap, a_lower_one_is_never_faster) {
  double before = 1;
  for (double cap_w = 420; cap_w > 101; cap_w -= 7) {
    const Capped at = capped(plain, {0.7, 0.9}, cap_w);
    EXPECT_GE(at.stretch, before - 1e-9);
    EXPECT_LE(at.power_w, cap_w * (1 + 1e-6));
    before = at.stretch;
  }
}

TEST(PowerFit, finds_the_model_behind_its_points) {
  std::mt19937_64 random(7);
  const auto uniform = [&] { return uniform_01(random()); };
  const PowerModel truth = {.idle_w = 120,
                            .limit_w = 600,
                            .compute_w = 400,
                            .compute_exponent = 0.9,
                            .memory_w = 250,
                            .memory_exponent = 0.7,
                            .gap_s = 6e-6};
  std::vector<PowerPoint> points;
  for (int i = 0; i < 400; ++i) {
    const Activity activity = {uniform(), uniform()};
    const double seconds = 1e-6 * std::exp(6 * uniform());
    points.push_back({activity, seconds, power_w(truth, activity, seconds)});
  }
  const PowerModel fitted = fit_power(points, 600);
  EXPECT_NEAR(fitted.idle_w, truth.idle_w, 3);
  for (const PowerPoint& p : points) {
    EXPECT_NEAR(power_w(fitted, p.activity, p.seconds) / p.watts, 1, 0.02);
  }
}

}  // namespace
}  // namespace halmark::power
