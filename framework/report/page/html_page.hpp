// What every page begins with, and its elements. A page is one file: nothing is loaded.
#pragma once

#include <string>
#include <vector>

namespace halmark::report {

// <name>text</name> and a new line; the text is escaped.
std::string element(const std::string& name, const std::string& text);
// <ul> of such <li>.
std::string list_element(const std::vector<std::string>& items);

// From the doctype to </head>, with the style sheet. The policy comes first, so that it holds for
// everything after it: nothing loads, nothing runs.
std::string page_head(const std::string& title);
// The same for a page that ends with `script_element`: that script alone may run.
std::string scripted_page_head(const std::string& title);
std::string script_element();

}  // namespace halmark::report
