// Foreign text made safe for each format: names from plugins, configs and databases pass here.
#pragma once

#include <string>
#include <string_view>

#include "core/text/clean_text.hpp"

namespace halmark::report {

using halmark::clean_text;

// Clean, with & < > " ' as entities: safe as element text and inside quoted attributes.
std::string html_text(std::string_view text);

// RFC 4180 cell. Text that a spreadsheet would run as a formula is prefixed with an apostrophe.
std::string csv_text(std::string_view text);

// Clean, one line, without characters that Markdown or raw HTML would act on.
std::string markdown_text(std::string_view text);

// Terminal columns of clean text (east asian wide characters count two, combining marks none).
int display_width(std::string_view text);

// At most `width` columns; the cut is marked with "~".
std::string shortened(std::string_view text, int width);

}  // namespace halmark::report
