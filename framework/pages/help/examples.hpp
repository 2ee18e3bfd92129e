// One example or a few of each command; the files, databases and plugins that they name are yours.
#pragma once

#include <string_view>

namespace halmark {

// `path`: "model", "simulate serving". Lines as the help shows them, "  halmark model ...", what
// they give behind three spaces or more; empty where the command has none.
std::string_view example_of(std::string_view path);

}  // namespace halmark
