// What every page begins with, and its elements. A page is one file: nothing is loaded.
#pragma once

#include <string>

namespace halmark::report {

// <name>text</name> and a new line; the text is escaped.
std::string element(const std::string& name, const std::string& text);

// From the doctype to </head>, with the style sheet. The policy comes first, so that it holds for
// everything after it: nothing loads, nothing runs.
std::string page_head(const std::string& title);

}  // namespace halmark::report
