// Times that no device can have, whatever its peaks are, and such as its own signals refute.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/measured/measurement.hpp"
#include "host/protocol.hpp"

namespace halmark {

// What the reason of a row begins with whose own clocks and checks contradict its time.
inline constexpr std::string_view timer_reason = "timer: ";

// Why the median of the row cannot be that of its executions; nothing = nothing speaks against it.
// `threads`: CPUs that the worker may use; 0 = not known.
std::optional<std::string> impossible_time(const Measurement& row,
                                           const protocol::DeviceDescription& device, int threads);

// Why nobody can tell whether the row's time is possible: its machine was too busy to compare
// clocks.
std::optional<std::string> uncertain_time(const Measurement& row);

}  // namespace halmark
