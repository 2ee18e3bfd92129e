// Foreign text made safe for each output: names from plugins, configs and databases pass here.
#pragma once

#include <string>
#include <string_view>

namespace halmark::report {

// Valid UTF-8 without control characters: C0, C1, DEL and bidirectional overrides become '?', line
// breaks and tabs a space, invalid bytes U+FFFD.
std::string clean_text(std::string_view text);

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
