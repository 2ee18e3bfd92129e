#include "report/views/point_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "core/dtype.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark::report {
namespace {

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

}  // namespace

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

}  // namespace halmark::report
