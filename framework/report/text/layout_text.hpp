// How ranks are used, as tables and first lines have it.
#pragma once

#include <string>
#include <string_view>

#include "core/chosen/configuration.hpp"

namespace halmark::report {

// "dp2 tp4": the degrees that are not one; `alone` where all are.
std::string layout_text(const Parallel& parallel, std::string_view alone);

}  // namespace halmark::report
