// The family table: one line per family.
#include <algorithm>

#include "model/family.hpp"

namespace halmark {

extern const Family llama_family;
extern const Family qwen2_family;
extern const Family qwen3_family;

std::span<const Family* const> all_families() {
  static constexpr const Family* table[] = {
      &llama_family,
      &qwen2_family,
      &qwen3_family,
  };
  return table;
}

const Family* find_family(std::string_view name) {
  const auto families = all_families();
  const auto it = std::ranges::find(families, name, &Family::name);
  return it == families.end() ? nullptr : *it;
}

const Family* family_of_model_type(std::string_view model_type) {
  for (const Family* family : all_families()) {
    if (std::ranges::find(family->model_types, model_type) != family->model_types.end()) {
      return family;
    }
  }
  return nullptr;
}

}  // namespace halmark
