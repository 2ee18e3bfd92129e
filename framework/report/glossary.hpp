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

struct Topic {
  std::string_view name;   // as it is looked up: "gate"
  std::string_view title;  // "Signals of the validity gate"
  std::span<const Term> terms;
};
std::span<const Topic> glossary_topics();

// Of all topics, in the order of their words.
std::span<const Term> glossary();

// By word or by heading, whatever the case; underscores count as spaces. Null for none.
const Term* find_term(std::string_view word_or_heading);

// Titles and labels that stand for it, beside its word.
std::vector<std::string> headings_of(const Term& term);

// Every word, for suggestions and completion.
std::vector<std::string> glossary_words();
// The whole glossary as a page, by topic.
std::string glossary_markdown();

}  // namespace halmark::report
