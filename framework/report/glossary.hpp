// The one glossary of what Halmark prints: every share and percentage, and the words around them.
// `halmark explain`, `halmark model --explain` and the headings of HTML pages read this table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halmark::report {

struct Term {
  std::string_view word;      // how it is looked up: "mfu"
  std::string_view headings;  // titles and labels that stand for it, between '|': "MFU|of sheet"
  std::string_view meaning;   // one sentence
  std::string_view formula;   // "" = it has none
  std::string_view commands;  // that print it: "model, run"
};

// In alphabetical order.
std::span<const Term> glossary();

// By word or by heading, whatever the case; underscores count as spaces. Null for none.
const Term* find_term(std::string_view word_or_heading);

// Every word, for suggestions and completion.
std::vector<std::string> glossary_words();

}  // namespace halmark::report
