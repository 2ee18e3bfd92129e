#include "report/glossary.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "report/glossary/topics.hpp"

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
  return std::ranges::any_of(headings_of(term),
                             [&](const std::string& heading) { return folded(heading) == wanted; });
}

std::vector<Term> sorted_terms() {
  std::vector<Term> out;
  for (const Topic& topic : glossary_topics()) {
    append_all(out, topic.terms);
  }
  std::ranges::sort(out, {}, &Term::word);
  return out;
}

// '|' would end a cell of a table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

}  // namespace

std::span<const Topic> glossary_topics() {
  static const std::array topics = {
      Topic{"figures", "Shares, percentages and intervals", figure_terms()},
      Topic{"statuses", "What became of a row, a command, a trial or a check", status_terms()},
      Topic{"gate", "Signals of the validity gate, and why figures are refused", gate_terms()},
      Topic{"search words", "Samplers, rules to stop, cache modes, strategies, sources of times",
            search_terms()},
      Topic{"model words", "Headings of tables of models, steps and simulations", model_terms()},
      Topic{"machine words", "Headings of tables of devices, links and memories", machine_terms()},
      Topic{"choice words", "Phases, schedules, algorithms, classes: words of closed sets",
            choice_terms()},
      Topic{"units", "Units behind figures", unit_terms()},
      Topic{"table words", "Headings of tables of runs, comparisons and checks", table_terms()},
      Topic{"warnings", "Warnings by their codes", warning_terms()},
  };
  return topics;
}

std::span<const Term> glossary() {
  static const std::vector<Term> terms = sorted_terms();
  return terms;
}

std::vector<std::string> headings_of(const Term& term) {
  std::vector<std::string> out;
  for (std::string_view rest = term.headings; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    out.emplace_back(rest.substr(0, bar));
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return out;
}

const Term* find_term(std::string_view word_or_heading) {
  const std::string wanted = folded(word_or_heading);
  const auto terms = glossary();
  // As it was typed first: "S" is a score, "s" a second.
  for (const Term& term : terms) {
    const auto headings = headings_of(term);
    if (term.word == word_or_heading || std::ranges::count(headings, word_or_heading) > 0)
      return &term;
  }
  const auto* named =
      find_or_null(terms, true, [&](const Term& t) { return folded(t.word) == wanted; });
  if (named) return named;
  const auto* headed =
      find_or_null(terms, true, [&](const Term& t) { return has_heading(t, wanted); });
  return headed;
}

std::vector<std::string> glossary_words() {
  std::vector<std::string> out;
  for (const Term& term : glossary()) out.emplace_back(term.word);
  return out;
}

std::string glossary_markdown() {
  std::string out =
      "# Every word that Halmark prints\n\n`halmark explain WORD` says the same of one of them. "
      "Written by `halmark config schema glossary --markdown`.\n";
  for (const Topic& topic : glossary_topics()) {
    out += "\n## " + std::string(topic.title) + "\n\n| word | also | meaning | formula |\n" +
           "|---|---|---|---|\n";
    for (const Term& term : topic.terms) {
      std::string also = join(headings_of(term), ", ", cell);
      out += "| " + cell(term.word) + " | " + also + " | " + cell(term.meaning) + " | " +
             (term.formula.empty() ? "" : '`' + cell(term.formula) + '`') + " |\n";
    }
  }
  return out;
}

}  // namespace halmark::report
