// Devices as people and programs look at them: those known by datasheet, and one that was measured.
#pragma once

#include <optional>
#include <span>

#include "core/device.hpp"
#include "report/text/wrapped_text.hpp"
#include "report/views/view.hpp"

namespace halmark::report {

// Every figure with its source and confidence; {"known": [...]}.
View known_devices_view(std::span<const Device> devices, int width = unlimited_width);

// Measured peaks and bandwidths, and which part of the datasheet's peak they are.
// How many figures were probed beside other work alone; "" where none was.
std::string busy_text(const Device& device);
View measured_device_view(const Device& device, const std::optional<Device>& datasheet);

}  // namespace halmark::report
