// The family table: one line per family.
#include <algorithm>

#include "model/family.hpp"

namespace halmark {

extern const Family deepseek_family;
extern const Family deepseek_sparse_family;
extern const Family deepseek_v4_family;
extern const Family glm4_moe_family;
extern const Family granite_moe_family;
extern const Family llama_family;
extern const Family mixtral_family;
extern const Family qwen2_family;
extern const Family qwen2_moe_family;
extern const Family qwen3_family;
extern const Family qwen3_moe_family;

std::span<const Family* const> all_families() {
  static constexpr const Family* table[] = {
      &deepseek_family,    &deepseek_sparse_family, &deepseek_v4_family, &glm4_moe_family,
      &granite_moe_family, &llama_family,           &mixtral_family,     &qwen2_family,
      &qwen2_moe_family,   &qwen3_family,           &qwen3_moe_family,
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
