#include "report/views/glossary_view.hpp"

#include <algorithm>

#include "core/input/input_file.hpp"
#include "core/text/error.hpp"
#include "report/text/wrapped_text.hpp"
#include "report/views/point_view.hpp"

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

std::string listed(std::span<const Term> terms, int width) {
  std::size_t longest = 0;
  for (const Term& term : terms) longest = std::max(longest, term.word.size());
  // On narrow terminals a long word takes from its own line alone.
  if (width > 0) longest = std::min(longest, static_cast<std::size_t>(width) / 3);
  std::string out;
  for (const Term& term : terms) {
    const std::size_t end = std::max(longest, term.word.size()) + 2;
    const std::string word = std::string(term.word) + std::string(end - term.word.size(), ' ');
    out += wrapped(word + first_sentence(term.meaning), width, longest + 2);
  }
  return out;
}

const Topic* find_topic(std::string_view name) {
  const auto topics = glossary_topics();
  const auto found = std::ranges::find(topics, name, &Topic::name);
  return found != topics.end() ? &*found : nullptr;
}

View topic_view(const Topic& topic, int width) {
  View out{.data = {{"topic", std::string(topic.name)}, {"terms", Json::array()}}};
  for (const Term& term : topic.terms) out.data["terms"].push_back(term_json(term));
  out.text = std::string(topic.title) + "\n" + listed(topic.terms, width);
  return out;
}

// The first of `folders` that has one is the user's own.
void add_workflow(std::span<const std::filesystem::path> folders, View& out) {
  for (const std::filesystem::path& folder : folders) {
    const std::filesystem::path file = folder / "workflow.yml";
    if (!std::filesystem::exists(file)) continue;
    const std::string workflow = read_input(file.string(), template_input);
    std::string comments;
    for (const char c : "\n" + out.text) {
      comments += c;
      if (c == '\n') comments += "# ";
    }
    comments.resize(comments.size() - 2);
    out.data["workflow"] = workflow;
    out.text = workflow + comments;
    return;
  }
}

}  // namespace

View glossary_view(int width) {
  View out{.data = {{"terms", Json::array()}}};
  for (const Topic& topic : glossary_topics()) {
    View one = topic_view(topic, width);
    for (Json& term : one.data["terms"]) {
      term["topic"] = std::string(topic.name);
      out.data["terms"].push_back(std::move(term));
    }
    out.text +=
        wrapped(one.text.substr(0, one.text.find('\n')) + " (" + std::string(topic.name) + ")",
                width) +
        one.text.substr(one.text.find('\n') + 1) + '\n';
  }
  out.text += wrapped("halmark explain WORD says more about one of them", width);
  return out;
}

View explained_view(std::string_view wanted, int width,
                    std::span<const std::filesystem::path> nightly) {
  if (find_term(wanted) == nullptr) {
    if (const Topic* topic = find_topic(wanted)) return topic_view(*topic, width);
    if (auto point = point_view(wanted, width)) return *std::move(point);
  }
  View out = term_view(known_term(wanted), width);
  if (out.data["word"] == "nightly") add_workflow(nightly, out);
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
  std::vector<std::string> known = glossary_words();
  for (const Term& term : glossary())
    std::ranges::move(headings_of(term), std::back_inserter(known));
  throw refused("unknown word '" + printable(word) + "'", {},
                suggestion(word, known) + " halmark explain lists them");
}

}  // namespace halmark::report
