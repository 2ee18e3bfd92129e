// Times that no device can have, whatever its peaks are, and such as its own signals refute.
#pragma once

#include <optional>
#include <string>

#include "core/measured/measurement.hpp"
#include "host/protocol.hpp"

namespace halmark {

// Why the median of the row cannot be that of its executions; nothing = nothing speaks against it.
// `threads`: CPUs that the worker may use; 0 = not known.
std::optional<std::string> impossible_time(const Measurement& row,
                                           const protocol::DeviceDescription& device, int threads);

}  // namespace halmark
