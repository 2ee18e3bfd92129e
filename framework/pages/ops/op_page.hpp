// Ops and their parameters as the contracts state them: what `halmark bench --params` takes.
#pragma once

#include <string_view>

#include "report/views/view.hpp"

namespace halmark::pages {

// Every op with a line of what it computes; those that are only priced say so.
report::View ops_page(int width);

// One op: parameters with ranges and defaults, operands of an example, and a command that runs it.
// Throws Error (exit 2) with the nearest names for an op that nobody knows.
report::View op_page(std::string_view name, int width);

}  // namespace halmark::pages
