// What a device says of itself around the samples: clocks, temperature, power, throttling, energy.
// Nothing of a plugin that states nothing, since absent is not clean.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/measured/measurement.hpp"
#include "core/numeric/clock.hpp"
#include "host/plugin/plugin.hpp"
#include "measure/sampling/package_energy.hpp"

namespace halmark::worker {

class DeviceState {
 public:
  explicit DeviceState(OpenDevice& device) : device_(device) {}
  // Behind the warm-up, in front of the first sample.
  void begin();
  // Right behind the last one: an idle device lowers its clock within milliseconds. Adds
  // device_clock_hz_before and _after, device_memory_hz, device_temperature_c, device_power_w,
  // device_power_limited and device_slowed_down (0 or 1, by what is the reason), and
  // device_energy_uj of each of `executions` since `begin`. They took `busy_ns`: where the device
  // idled for more than a tenth of the time, its energy is none of theirs, and absent. Of this
  // machine's CPU also package_energy_uj: of all packages, whoever else runs on them.
  void end(double executions, double busy_ns, std::vector<Signal>& signals);

 private:
  OpenDevice& device_;
  std::optional<DeviceClocks> before_;
  std::optional<double> energy_before_uj_;
  std::optional<PackageEnergy> packages_;
  SteadyClock::time_point begun_;
};

}  // namespace halmark::worker
