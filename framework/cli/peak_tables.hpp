// Measured peaks as `halmark peaks` and `halmark devices` show them.
#pragma once

#include <optional>
#include <string>

#include "core/device.hpp"
#include "core/json/json.hpp"

namespace halmark::cli {

Json peaks_json(const Device& device);
// With the share of a data sheet's figures where one is given.
std::string peaks_table(const Device& device, const std::optional<Device>& datasheet);

}  // namespace halmark::cli
