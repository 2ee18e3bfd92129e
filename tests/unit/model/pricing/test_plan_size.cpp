// Devices, energy, cost and carbon: N = FLOPs / (peak x MFU x time), against a published run.
#include "model/pricing/plan_size.hpp"

#include "fixtures.hpp"

namespace halmark::model_test {
namespace {

constexpr double day_s = 86400;

// DeepSeek-V3 (2412.19437, 2505.09343): 14.8 T tokens of 250 GFLOP on 2,048 devices at 38.94 % of
// 989.5 TFLOP/s took 2.664 M device-hours.
TEST(PlanSize, gives_the_device_hours_of_a_published_run) {
  const SizeAssumptions a{.peak_flops_per_s = 989.5e12, .mfu = 0.3894};
  const SizePlan plan = size_for_devices(14.8e12 * 250e9, 2048, a);
  EXPECT_NEAR(plan.device_hours / 2.664e6, 1, 0.005);
  EXPECT_FALSE(plan.energy_kwh);
  EXPECT_FALSE(plan.cost);
  EXPECT_FALSE(plan.carbon_kg);
  EXPECT_NEAR(size_for_time(14.8e12 * 250e9, plan.seconds, 1, a).exact_devices, 2048, 1e-6);
}

TEST(PlanSize, energy_money_and_carbon_are_hours_times_what_was_given) {
  const SizeAssumptions a{.peak_flops_per_s = 1e15,
                          .mfu = 0.5,
                          .pue = 1.2,
                          .power_w = 700,
                          .price_per_device_hour = 2,
                          .carbon_g_per_kwh = 400};
  // 3.6e18 x 10 FLOPs at 5e14 a second: 20 device-hours.
  const SizePlan plan = size_for_devices(3.6e19, 10, a);
  EXPECT_DOUBLE_EQ(plan.device_hours, 20);
  EXPECT_DOUBLE_EQ(plan.seconds, 7200);
  EXPECT_DOUBLE_EQ(*plan.energy_kwh, 20 * 0.7 * 1.2);
  EXPECT_DOUBLE_EQ(*plan.cost, 40);
  EXPECT_DOUBLE_EQ(*plan.carbon_kg, 20 * 0.7 * 1.2 * 0.4);
}

TEST(PlanSize, devices_are_whole_and_no_fewer_than_memory_asks) {
  const SizeAssumptions a{.peak_flops_per_s = 1e15, .mfu = 0.5};
  EXPECT_EQ(size_for_time(5e14 * day_s * 2.1, day_s, 1, a).devices, 3);
  EXPECT_LT(size_for_time(5e14 * day_s * 2.1, day_s, 1, a).seconds, day_s);
  EXPECT_EQ(size_for_time(5e14, day_s, 4, a).devices, 4);
  const SizePlan load = size_for_load(5e14 * 1.5, day_s, 1, a);
  EXPECT_EQ(load.devices, 2);
  EXPECT_DOUBLE_EQ(load.device_hours, 48);
  EXPECT_EQ(test::error_of([&] { size_for_time(1e40, 1, 1, a); }).exit_code(), ExitCode::refused);
}

TEST(PlanSize, a_trained_token_costs_three_forward_passes) {
  const OperatorGraph g = graph_of(tiny(), training(1, 64));
  EXPECT_DOUBLE_EQ(training_flops_per_token(tiny(), bf16(), 64), 3 * g.totals.matmul_flops / 64);
}

// Every decode step priced on its own.
TEST(PlanSize, a_request_is_its_prefill_and_the_sum_of_its_decode_steps) {
  for (const std::int64_t output : {1, 2, 3, 50, 100}) {
    const RequestFlops f = request_flops(tiny(), bf16(), 20, output);
    EXPECT_EQ(f.prefill, graph_of(tiny(), prefill(1, 20, 20)).totals.matmul_flops);
    double expected = 0;
    for (std::int64_t step = 1; step < output; ++step) {
      expected += graph_of(tiny(), decode(1, 20 + step)).totals.matmul_flops;
    }
    EXPECT_NEAR(f.decode, expected, 1e-6 * expected) << output;
  }
}

}  // namespace
}  // namespace halmark::model_test
