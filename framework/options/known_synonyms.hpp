// What other programs of the field call an option, and how a word was meant that no command knows.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace halmark {

// "did you mean '--device'?" for `option` ("--gpu") of a command; `words`: what nothing knows, in
// order. Else the nearest of `known`, or where the help is.
std::string meant_option(const std::string& option, const std::vector<std::string>& words,
                         const CLI::App& command, const std::vector<std::string>& known);
// "did you mean '--params m=64'?" for a word that is no option; "" where nothing is near.
std::string meant_word(const std::string& word, const CLI::App& command);

}  // namespace halmark
