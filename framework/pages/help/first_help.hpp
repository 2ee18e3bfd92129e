// The first screen of the program, and the page of all of its commands.
#pragma once

#include <string>

#include "pages/help/help_table.hpp"

namespace halmark {

// Common commands by use, and what to do first: at most 40 lines of 80 columns.
std::string first_help(const HelpTable& help);

// Every command with its examples, options and subcommands, as Markdown.
std::string commands_markdown(const HelpTable& help);

}  // namespace halmark
