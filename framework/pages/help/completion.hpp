// Completion of a command line, for one shell, as a script that the shell reads.
#pragma once

#include <string>
#include <string_view>

#include "pages/help/help_table.hpp"

namespace halmark {

// `shell`: bash, zsh or fish; throws Error (exit 2) for another.
std::string completion_script(const HelpTable& help, std::string_view shell);

}  // namespace halmark
