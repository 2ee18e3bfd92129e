// The ceilings of a device that only its plugin reaches: what the plugin's own copies,
// multiply-adds and fastest matrix products do on it, gated and timed as every row is.
#pragma once

#include <optional>
#include <string>

#include "core/device.hpp"
#include "tune/evaluate/measure_kernels.hpp"

namespace halmark::tune {

struct DevicePeakMeasuring {
  const protocol::PluginDescription& plugin;
  const protocol::DeviceDescription& device;  // of the plugin
  std::string fingerprint;                    // of the rows of that device
  std::string path;                           // of the device file; its folder is created
  std::optional<Device> datasheet;            // of what the driver calls the device
  std::string utc;                            // that figures are dated by
  KernelMeasuring measuring;
  WorkerLimits limits = {};
  bool is_quick = true;
};

// Adds what was seen to the file of this device and returns what it then says. A dtype that the
// plugin refuses has no peak, and a note with the reason. Where the datasheet states a clock, its
// peaks at the highest clock that the driver states are the upper ends: what bounds rows, beside
// the best product that was found. Throws Error: exit 2 for a file of another device; exit 5 where
// no kernel of the plugin gave a figure. Writes nothing when interrupted.
Device measure_device_peaks(const DevicePeakMeasuring& options);

}  // namespace halmark::tune
