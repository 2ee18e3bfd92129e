// The few figures of a measurement that a history follows, read from its body without the rest: ten
// times as fast as the whole value, of which a night's report needs a hundred thousand.
#pragma once

#include <string_view>

#include "core/measured/measurement.hpp"

namespace halmark::journal {

// Backend and device of the case, round, status, reason, the plugin, the median, and the machine's
// state around it; all else is as in an empty row. Throws std::exception where the body is no JSON
// or has none of them.
Measurement figures_from(std::string_view body);

}  // namespace halmark::journal
