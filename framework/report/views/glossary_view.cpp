#include "report/views/glossary_view.hpp"

#include <algorithm>

#include "core/text/error.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark::report {
namespace {

Json term_json(const Term& term) {
  return {{"word", std::string(term.word)},
          {"meaning", std::string(term.meaning)},
          {"formula", term.formula.empty() ? Json(nullptr) : Json(std::string(term.formula))},
          {"commands", std::string(term.commands)}};
}

std::string first_sentence(std::string_view meaning) {
  return std::string(meaning.substr(0, std::min(meaning.find_first_of(".:;"), meaning.size())));
}

}  // namespace

View glossary_view(int width) {
  std::size_t longest = 0;
  for (const Term& term : glossary()) longest = std::max(longest, term.word.size());
  View out{.data = {{"terms", Json::array()}}};
  for (const Term& term : glossary()) {
    out.data["terms"].push_back(term_json(term));
    const std::string word =
        std::string(term.word) + std::string(longest + 2 - term.word.size(), ' ');
    out.text += wrapped(word + first_sentence(term.meaning), width, longest + 2);
  }
  out.text += wrapped("halmark explain WORD says more about one of them", width);
  return out;
}

View term_view(const Term& term, int width) {
  View out{.data = term_json(term)};
  out.text = wrapped(std::string(term.word) + ": " + std::string(term.meaning), width, 2);
  if (!term.formula.empty()) out.text += wrapped("  = " + std::string(term.formula), width, 4);
  out.text += wrapped("  printed by: " + std::string(term.commands), width, 4);
  return out;
}

const Term& known_term(std::string_view word) {
  if (const Term* term = find_term(word)) return *term;
  throw refused("unknown word '" + printable(word) + "'", {},
                suggestion(word, glossary_words()) + " halmark explain lists them");
}

}  // namespace halmark::report
