// Which known device a table means by what its collector printed: "NVIDIA A100-SXM4-80GB".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device.hpp"

namespace halmark::tune {

// Whether a table that states `stated` can be of `device`; where one of them has no model, it can.
bool can_be_of(const std::string& stated, const Device& device);

// Of the same model the one that shares most words with what is stated; of several, the one that is
// called by the model alone. Nothing where none is of that model, or several are left.
std::optional<Device> stated_device(const std::string& stated, std::span<const Device> known);

}  // namespace halmark::tune
