#include "report/glossary.hpp"

#include <algorithm>
#include <cctype>

namespace halmark::report {
namespace {

std::string folded(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) {
    return c == '_' ? ' ' : static_cast<char>(std::tolower(c));
  });
  return out;
}

bool has_heading(const Term& term, const std::string& wanted) {
  std::string_view rest = term.headings;
  while (!rest.empty()) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    if (folded(rest.substr(0, bar)) == wanted) return true;
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return false;
}

}  // namespace

const Term* find_term(std::string_view word_or_heading) {
  const std::string wanted = folded(word_or_heading);
  const auto terms = glossary();
  const auto named =
      std::ranges::find_if(terms, [&](const Term& t) { return folded(t.word) == wanted; });
  if (named != terms.end()) return &*named;
  const auto headed =
      std::ranges::find_if(terms, [&](const Term& t) { return has_heading(t, wanted); });
  return headed != terms.end() ? &*headed : nullptr;
}

std::vector<std::string> glossary_words() {
  std::vector<std::string> out;
  for (const Term& term : glossary()) out.emplace_back(term.word);
  return out;
}

}  // namespace halmark::report
