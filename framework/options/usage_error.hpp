// What is wrong with a command line, in our words.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/text/error.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace halmark {

const CLI::App& root_of(const CLI::App& app);  // the program
std::string path_of(const CLI::App& app);      // "halmark simulate serving"

// Names the option or the word, with the nearest that is known, else the help of the command that
// it stands in; the parser's own exit codes are not ours. `commands`: names of all; `understood`:
// the line to type for words that begin with no command, "" = no idea.
Error usage_error(const CLI::ParseError& error, const CLI::App& app,
                  const std::vector<std::string>& commands,
                  const std::function<std::string(const std::string&)>& understood);

// Throws CLI::ParseError where a command below `above` was named, and `above` was given an option
// or a word: no one would read it.
void refuse_unread(const CLI::App& above);

// Where the first words name a command or subcommand that there is not: without --help, as there is
// no help of it, and words that begin with no command as one, the question.
void settle_question(const CLI::App& app, std::vector<std::string>& words);

}  // namespace halmark
