// The one script of a report's page: tables sorted and filtered, axes of charts chosen. Everything
// that is said stands in the page without it; it only rearranges.
#pragma once

#include <string>
#include <string_view>

namespace halmark::report {

std::string_view page_script();

// "'sha256-...'": how a policy names it, so that this script runs and no other one.
std::string page_script_source();

}  // namespace halmark::report
