// What is wrong with a command line, in our words.
#pragma once

#include <string>
#include <vector>

#include "core/text/error.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace halmark {

// Names the option or the word, with the nearest that is known, else the help of the command that
// it stands in; the parser's own exit codes are not ours. `commands`: names of all.
Error usage_error(const CLI::ParseError& error, const CLI::App& app,
                  const std::vector<std::string>& commands);

}  // namespace halmark
