// Energy of a step against what its kernels draw one by one, and what caps cost.

#include "schedule_fixtures.hpp"
#include "simulate/schedule/step_power.hpp"

namespace halmark::schedule::test {
namespace {

Device device_of(double watts) {
  Device out{.id = "t", .power_w = watts};
  out.peaks.push_back({.path = "f32", .dtype = Dtype::f32, .flops_per_s = 1e12});
  out.peaks.push_back({.path = "bf16", .dtype = Dtype::bf16, .flops_per_s = 2e12});
  out.bandwidths.push_back({.level = "memory", .bytes_per_s = 1e11});
  return out;
}

PricedStep step_on(const Device& device) {
  return price_step(model_test::tiny(), model_test::prefill(4, 8, 8, {}), device, {});
}

// Each kernel takes as long as its operations and its bytes at half of the device's rates.
OperatorNs at_half_rate(const PricedStep& step) {
  return [&step](const Operator& op) {
    const Work& w = op.rank_work;
    const double flops_s = (w.matmul_flops + w.vector_flops) /
                           step.device->peak(peak_dtype_of(step, op), 0)->flops_per_s;
    const double bytes_s = (w.bytes_read + w.bytes_written) / 1e11;
    return 2e9 * std::max(flops_s, bytes_s);
  };
}

StepSimulation simulated_under(const PricedStep& step, const PowerOptions& options) {
  TimeSources times = times_of(step, at_half_rate(step));
  const auto of = times.of_operator;
  times.of_operator = [&, of](std::size_t i) {
    return under_caps(of(i), step.graph.operators[i], step, options);
  };
  return simulated(step, leaf(1), times);
}

TEST(StepPower, is_between_idling_and_the_limit_for_as_long_as_the_step_takes) {
  const PricedStep step = step_on(device_of(500));
  const StepSimulation simulation = simulated_under(step, {});
  const auto power = step_power(step, simulation, {});
  ASSERT_TRUE(power);
  EXPECT_EQ(power->use.devices, 1U);
  EXPECT_NEAR(power->use.seconds, simulation.step_ns() * 1e-9, 1e-12);
  EXPECT_GT(power->use.mean_w, power->model.idle_w);
  EXPECT_LT(power->use.peak_w, 500);
  EXPECT_DOUBLE_EQ(power->j_per_token() * 32, power->use.energy_j()) << "4 sequences of 8 tokens";
  EXPECT_GT(power->carbon.operational_g, 0);
}

// What a device draws is cut off at its cap: that its kernels were slowed shows in their time.
TEST(StepPower, a_lower_cap_is_never_faster_and_costs_time_in_the_end) {
  const PricedStep step = step_on(device_of(500));
  const StepSimulation free = simulated_under(step, {});
  const double peak_w = step_power(step, free, {})->use.peak_w;
  double before_ns = free.step_ns();
  for (const double part : {1.0, 0.9, 0.7, 0.5}) {
    const StepSimulation simulation = simulated_under(step, {.cap_w = part * peak_w});
    EXPECT_GE(simulation.step_ns(), before_ns);
    before_ns = simulation.step_ns();
  }
  EXPECT_GT(before_ns, 1.2 * free.step_ns());
}

TEST(StepPower, a_budget_is_an_equal_cap_for_each) {
  const PowerOptions options{.cap_w = 400, .budget_w = 1200};
  EXPECT_EQ(options.cap_of_device_w(2), 400);
  EXPECT_EQ(options.cap_of_device_w(4), 300);
  EXPECT_FALSE(PowerOptions{}.cap_of_device_w(4));
}

TEST(StepPower, refuses_caps_that_nothing_keeps_and_devices_without_power) {
  const PricedStep step = step_on(device_of(500));
  EXPECT_THROW(simulated_under(step, {.cap_w = 20}), Error);
  Device silent = device_of(500);
  silent.power_w.reset();
  const PricedStep unknown = step_on(silent);
  EXPECT_THROW(simulated_under(unknown, {.cap_w = 400}), Error);
  EXPECT_FALSE(step_power(unknown, simulated_under(unknown, {}), {}));
}

}  // namespace
}  // namespace halmark::schedule::test
