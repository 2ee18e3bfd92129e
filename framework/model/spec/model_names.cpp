#include "model/spec/model_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "core/json/json.hpp"
#include "core/ranges.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// "organisation/name", of characters that a hub takes.
bool is_of_hub(std::string_view name) {
  return std::ranges::count(name, '/') == 1 && std::ranges::all_of(name, [](char c) {
           return is_alphanumeric(c) || std::string_view("-_./").find(c) != std::string_view::npos;
         });
}

constexpr auto free_words = std::to_array<std::string_view>(
    {"instruct",  "chat",    "it",        "hf",        "base",  "pt",  "thinking",
     "reasoning", "dynamic", "block",     "quantized", "quant", "bnb", "mlx",
     "meta",      "nvidia",  "autoround", "preview",   "qat",   "ud"});

struct PrecisionWord {
  std::string_view word, recipe;
};
// A name may have two ("GPTQ-Int4"): the first of this order counts. Of a repository of GGUF files
// llama.cpp takes the one in 4 bits (Q4_K_M) where nothing else is said.
constexpr auto precision_words = std::to_array<PrecisionWord>({{"awq", "awq"},
                                                               {"gptq", "gptq"},
                                                               {"nvfp4", "nvfp4"},
                                                               {"mxfp4", "mxfp4"},
                                                               {"fp4", "nvfp4"},
                                                               {"w4a16", "w4a16"},
                                                               {"w8a16", "w8a16"},
                                                               {"w8a8", "int8"},
                                                               {"int4", "w4a16"},
                                                               {"4bit", "w4a16"},
                                                               {"int8", "int8"},
                                                               {"8bit", "w8a16"},
                                                               {"fp8", "fp8"},
                                                               {"bf16", "bf16"},
                                                               {"fp16", "f16"},
                                                               {"q4", "w4a16"},
                                                               {"iq4", "w4a16"},
                                                               {"q8", "w8a16"},
                                                               {"gguf", "w4a16"}});

// Widths that no recipe has: only the header of the weights says what they are.
constexpr auto widths_of_files =
    std::to_array<std::string_view>({"q2", "q3", "q5", "q6", "iq1", "iq2", "iq3", "tq1", "tq2",
                                     "2bit", "3bit", "5bit", "6bit", "exl2", "exl3"});
// Behind the width in the name of a type: Q4_K_M, Q8_0, IQ4_XS.
constexpr auto type_endings =
    std::to_array<std::string_view>({"0", "1", "k", "s", "m", "l", "xl", "xs", "xxs", "nl"});

bool is_revision(std::string_view word) {
  return word.size() == 2 && word[0] == 'v' &&
         std::isdigit(static_cast<unsigned char>(word[1])) != 0;
}

bool is_date_word(std::string_view word) {
  return (word.size() == 4 || word.size() == 6 || word.size() == 8) &&
         std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

// Without what stands in front of a slash; points stay within a word, but behind "quantized".
std::vector<std::string> words_of(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 = 0
  std::vector<std::string> out = {""};
  for (const char c : name) {
    const bool ends = std::string_view("-_: ").find(c) != std::string_view::npos ||
                      (c == '.' && out.back() == "quantized");
    if (ends) {
      out.emplace_back();
    } else {
      out.back() += lower(c);
    }
  }
  return out;
}

bool is_letters(std::string_view word) {
  return std::ranges::all_of(word, [](unsigned char c) { return std::isalpha(c) != 0; });
}

bool has_words(const std::vector<std::string>& of, const std::vector<std::string>& wanted) {
  auto next = wanted.begin();
  for (const std::string& word : of) {
    if (next == wanted.end()) break;
    const bool is_begun = is_letters(*next) && word.starts_with(*next) &&
                          !std::isalpha(static_cast<unsigned char>(word[next->size()]));
    if (word == *next || is_begun) {
      ++next;
    } else if (next == wanted.begin()) {
      return false;
    }
  }
  return next == wanted.end();
}

// "qwen2.5-72b": 2.5, 72.
std::vector<double> numbers_in(const std::string& name) {
  std::vector<double> out;
  for (const char* at = name.c_str(); *at != '\0';) {
    char* end = nullptr;
    const bool is_digit = std::isdigit(static_cast<unsigned char>(*at)) != 0;
    if (is_digit) out.push_back(std::strtod(at, &end));
    at = is_digit ? end : at + 1;
  }
  return out;
}

}  // namespace

std::vector<std::string> with_words_of(std::string_view name,
                                       const std::vector<std::string>& known) {
  const auto shorter = pasted_name(name).shorter;
  std::vector<std::string> out;
  if (shorter.empty()) return out;
  const std::vector<std::string> wanted = words_of(shorter.back());
  std::ranges::copy_if(known, std::back_inserter(out), [&](const std::string& one) {
    return one.find('/') == std::string::npos && has_words(words_of(one), wanted);
  });
  std::ranges::stable_sort(out, [](const std::string& a, const std::string& b) {
    const std::size_t x = words_of(a).size(), y = words_of(b).size();
    return x != y ? x < y : numbers_in(a) > numbers_in(b);
  });
  return out;
}

PastedName pasted_name(std::string_view name) {
  PastedName out;
  const std::vector<std::string> words = words_of(name);
  const auto find = [](std::string_view word) {
    return std::ranges::find(precision_words, word, &PrecisionWord::word);
  };
  auto first = precision_words.end();
  for (const std::string& word : words) {
    first = std::min(first, find(word));
    if (contains(widths_of_files, word)) out.of_file = word;
  }
  if (first != precision_words.end()) out.precision = first->recipe;
  for (const bool has_dates : {true, false}) {
    std::string shorter;
    bool is_behind = false;  // a word that names how the weights are stored
    for (const std::string& word : words) {
      const bool is_width = find(word) != precision_words.end() || contains(widths_of_files, word);
      const bool is_free = is_width || contains(free_words, word) ||
                           (is_behind && (contains(type_endings, word) || is_revision(word))) ||
                           (!has_dates && is_date_word(word));
      is_behind = is_behind || is_width;
      if (!is_free) append_item(shorter, "-", word);
    }
    if (!shorter.empty()) out.shorter.push_back(std::move(shorter));
  }
  return out;
}

std::string same_family(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t least = 4, most = 6;
  const auto shorter = pasted_name(name).shorter;
  const std::string wanted = normalised(shorter.empty() ? name : shorter.back(), Points::kept);
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& one : known) {
    const std::string text = normalised(one, Points::kept);
    const auto end = std::ranges::mismatch(wanted, text).in1;
    const auto shared = static_cast<std::size_t>(end - wanted.begin());
    if (shared >= least) found.emplace_back(shared, one);
  }
  std::ranges::stable_sort(found, std::greater<>(), &std::pair<std::size_t, std::string>::first);
  found.resize(std::min(found.size(), most));
  return join(found, ", ", &std::pair<std::size_t, std::string>::second);
}

std::string normalised(std::string_view name, Points points) {
  if (const auto slash = name.rfind('/'); slash != std::string_view::npos) {
    name.remove_prefix(slash + 1);
  }
  std::string out;
  for (const char c : name) {
    const bool counts = is_alphanumeric(c) || (c == '.' && points == Points::kept);
    if (counts) out += lower(c);
  }
  return out;
}

std::vector<std::string> model_names(const Json& document) {
  std::vector<std::string> out = {document.at("id").get<std::string>()};
  const auto aliases = document.find("aliases");
  if (aliases == document.end() || !aliases->is_array()) return out;
  for (const Json& alias : *aliases) {
    if (alias.is_string()) out.push_back(alias.get<std::string>());
  }
  return out;
}

std::string kept_name(const std::vector<std::string>& names, std::string_view asked) {
  const auto is_same = [&](const std::string& name) {
    return std::ranges::equal(name, asked, {}, lower, lower);
  };
  if (const auto it = std::ranges::find_if(names, is_same); it != names.end()) return *it;
  for (const Points points : {Points::kept, Points::dropped}) {
    const std::string wanted = normalised(asked, points);
    for (const std::string& name : names) {
      if (normalised(name, points) != wanted) continue;
      return is_of_hub(asked) ? std::string(asked) : name;
    }
  }
  return names.front();
}

std::string checkpoint_name(const Json& document, const std::string& name) {
  const auto stated = document.find("checkpoints");
  if (stated != document.end() && stated->is_object()) {
    const auto it = stated->find(name);
    if (it != stated->end() && it->is_string()) return it->get<std::string>();
  }
  const std::vector<std::string> names = model_names(document);
  if (name != names.front()) return name;
  const auto hub = std::ranges::find_if(names, is_of_hub);
  return hub != names.end() ? *hub : name;
}

}  // namespace halmark
