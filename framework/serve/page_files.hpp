// The files of the page, embedded when the program is built: no path of a file system is ever made
// of a URL.
#pragma once

#include <span>
#include <string_view>

namespace halmark::serve {

struct PageFile {
  std::string_view name;  // "app.js"
  std::string_view text;
};

// index.html, page.css and the modules, those that others import first.
std::span<const PageFile> page_files();
std::string_view content_type(std::string_view name);  // by its suffix

}  // namespace halmark::serve
