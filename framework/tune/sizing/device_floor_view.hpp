// The least device for given levels as `halmark plan-size --require` shows it.
#pragma once

#include <optional>

#include "report/views/view.hpp"
#include "tune/sizing/device_floor.hpp"

namespace halmark::tune {

// {"model", "dtype", "request", "levels", "ceilings", "memory_bytes", "binding", "factor",
// "device"}; with a device, what it has of each. Keys in results/schema/devices.md.
report::View device_floor_view(const DeviceFloor& floor, const std::optional<Device>& device);

}  // namespace halmark::tune
