// Man pages (section 1, roff with the man macros) from the table of help.
#pragma once

#include <string>
#include <vector>

#include "pages/help/help_table.hpp"

namespace halmark {

struct ManPage {
  std::string file;  // "halmark-tune.1"
  std::string text;
};

// The program's page, then one for each command.
std::vector<ManPage> man_pages(const HelpTable& help);

}  // namespace halmark
