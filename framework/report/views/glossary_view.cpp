#include "report/views/glossary_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "core/dtype.hpp"
#include "core/input/input_file.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "report/text/wrapped_text.hpp"
#include "report/views/view.hpp"

namespace halmark::report {
namespace {

// What the label of a point says: "x16 t8192 fp8 tp8", "b4 bf16 dp2 tp2".

struct Part {
  std::string_view letters, meaning;  // "{}" is the number
};
constexpr std::array parts = {
    Part{"x", "{} requests at a time (concurrency)"},
    Part{"t", "at most {} tokens in a step, prompts and answers together (token budget)"},
    Part{"b", "batch {}: requests that a step serves together"},
    Part{"n", "{} new tokens of each request in a step"},
    Part{"c", "context {}: tokens that each request has in its cache"},
    Part{"s", "routing skew {}: how unevenly tokens meet the experts"},
    Part{"dp", "data parallel {}: {} copies of the model, each with its own requests"},
    Part{"tp", "tensor parallel {}: each operator is split over {} devices"},
    Part{"pp", "pipeline parallel {}: the layers are split into {} stages"},
    Part{"ep", "expert parallel {}: the routed experts are spread over {} devices"},
    Part{"cp", "context parallel {}: the tokens of a request are split over {} devices"},
};

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 12 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string meaning_of(const std::string& word) {
  for (const Part& part : parts) {
    const std::string_view number =
        std::string_view(word).substr(std::min(part.letters.size(), word.size()));
    if (!word.starts_with(part.letters) || !is_number(number)) continue;
    std::string out(part.meaning);
    for (std::size_t at; (at = out.find("{}")) != std::string::npos;) out.replace(at, 2, number);
    return out;
  }
  const auto type = parse_dtype(word);
  // As recipes of weights are named: "nvfp4", "w4a16".
  const bool has_digit = std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
  const bool is_recipe =
      word.starts_with("nvfp") || word.starts_with("mxfp") || word.starts_with("w");
  if (type || (has_digit && is_recipe) || word == "checkpoint" || word == "awq" || word == "gptq") {
    const std::string bits =
        type ? fmt::format(" ({}, {} bits)", dtype_name(*type), dtype_bits(*type)) : "";
    return "precision of weights and products" + bits + "; halmark model MODEL --dtype " + word +
           " says of which operators";
  }
  return {};
}

// A line per part; nothing where a word is no part of a label.
std::optional<View> point_view(std::string_view label, int width) {
  std::istringstream words{std::string(label)};
  View out{.data = {{"point", std::string(label)}, {"parts", Json::array()}}};
  std::size_t said = 0;
  for (std::string word; words >> word;) {
    const std::string meaning = meaning_of(word);
    if (meaning.empty()) return std::nullopt;
    said += word == "checkpoint" ? 0 : 1;
    out.data["parts"].push_back({{"word", word}, {"meaning", meaning}});
    out.text += wrapped(fmt::format("{:<8}{}", word, meaning), width, 8);
  }
  if (said == 0) return std::nullopt;
  return out;
}

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
  return find_or_null(topics, name, &Topic::name);
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
