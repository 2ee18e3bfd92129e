// Clocks and energy as the CUDA backend reads them: units, throttling, and NaN for the unknown.
#include "plugins/cuda/nvml.hpp"
#include "tests/checkout.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using hm_cuda::Nvml;

void expect_unknown(const Nvml::Device& device) {
  hm_clocks clocks{};
  clocks.throttle = 7;
  device.clocks(clocks);
  for (const double value :
       {clocks.core_hz, clocks.memory_hz, clocks.temperature_c, clocks.power_w}) {
    EXPECT_TRUE(std::isnan(value)) << value;
  }
  EXPECT_EQ(clocks.throttle, 0u);
  EXPECT_TRUE(std::isnan(device.energy_microjoules()));
}

TEST(Nvml, figures_come_in_the_units_of_the_contract) {
  const Nvml nvml(halmark::test::in_build("/tests/unit/plugins/libfake_nvml.so"));
  EXPECT_EQ(nvml.driver_version(), "580.1.2");
  const Nvml::Device device = nvml.device("0000:01:00.0");
  hm_clocks clocks{};
  device.clocks(clocks);
  EXPECT_DOUBLE_EQ(clocks.core_hz, 1.98e9);
  EXPECT_DOUBLE_EQ(clocks.memory_hz, 3.201e9);
  EXPECT_DOUBLE_EQ(clocks.temperature_c, 61);
  EXPECT_DOUBLE_EQ(clocks.power_w, 345.6);
  EXPECT_EQ(clocks.throttle, HM_THROTTLE_POWER | HM_THROTTLE_THERMAL);
  EXPECT_DOUBLE_EQ(device.energy_microjoules(), 12345678901e3);
}

TEST(Nvml, what_a_device_does_not_tell_is_nan) {
  const Nvml nvml(halmark::test::in_build("/tests/unit/plugins/libfake_nvml.so"));
  expect_unknown(nvml.device("lost"));
  expect_unknown(nvml.device("none"));
}

TEST(Nvml, without_the_library_everything_is_unknown) {
  const Nvml nvml("libhalmark-no-such-library.so");
  EXPECT_EQ(nvml.driver_version(), "");
  expect_unknown(nvml.device("0000:01:00.0"));
}

}  // namespace
