// The words of the expression language, for pages: the parser's own functions, and its operators
// with an example each, which a test evaluates.
#pragma once

#include <string_view>
#include <vector>

namespace halmark {

struct LanguageWord {
  std::string_view word, meaning;
  std::string_view example;  // true with tp = 4 (a parameter) and name = "bf16" (a fact)
};

// Loosest first.
std::vector<LanguageWord> expression_operators();
std::vector<LanguageWord> expression_functions();
// What a value may be.
std::vector<LanguageWord> expression_values();

}  // namespace halmark
