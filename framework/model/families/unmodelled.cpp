// Architectures that are known and refused, and what is near to a name that is not known.
#include <algorithm>
#include <string>
#include <vector>

#include "core/text/error.hpp"
#include "model/families/family.hpp"

namespace halmark {

namespace {

constexpr std::string_view encoder_decoder =
    "an encoder-decoder: an encoder, and attention to its output";
constexpr std::string_view cross = "attention of text to an image in layers of its own";
constexpr std::string_view recurrence = "a recurrence whose operators are not modelled";

constexpr Unmodelled known[] = {
    {"idefics", cross, "llama"},
    {"switch_transformers", encoder_decoder, ""},
    {"t5gemma", encoder_decoder, "gemma2"},
    {"xlstm", recurrence, ""},
};

std::size_t shared_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

const Unmodelled* find_unmodelled(std::string_view model_type) {
  const auto it = std::ranges::find(known, model_type, &Unmodelled::model_type);
  return it == std::end(known) ? nullptr : it;
}

std::vector<std::string> known_model_types() {
  std::vector<std::string> names;
  for (const Family* family : all_families()) {
    for (const std::string_view type : family->model_types) names.emplace_back(type);
  }
  std::ranges::sort(names);
  return names;
}

// Types of one line of models begin alike ("qwen3_5_moe", "qwen3_moe"); an edit distance alone
// would find short names near to anything.
std::string nearest_model_type(std::string_view model_type) {
  if (model_type.empty()) return {};
  if (const Unmodelled* entry = find_unmodelled(model_type)) return std::string(entry->nearest);
  constexpr std::size_t prefix_min = 3;
  const std::vector<std::string> names = known_model_types();
  std::vector<std::string> alike;
  std::size_t longest = prefix_min;
  for (const std::string& name : names) {
    const std::size_t shared = shared_prefix(name, model_type);
    if (shared < longest) continue;
    if (shared > longest) alike.clear();
    longest = shared;
    alike.push_back(name);
  }
  const std::vector<std::string> near = nearest(model_type, alike.empty() ? names : alike, 1);
  if (!near.empty()) return near.front();
  return alike.empty() ? std::string() : alike.front();
}

}  // namespace halmark
