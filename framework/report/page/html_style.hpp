// The style sheet of the page, inline because the page is one file.
#pragma once

#include <string_view>

namespace halmark::report {

std::string_view style_sheet();

}  // namespace halmark::report
