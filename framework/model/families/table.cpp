// The family table: one line per family.
#include <algorithm>

#include "model/families/family.hpp"

namespace halmark {

extern const Family dbrx_family;
extern const Family deepseek_family;
extern const Family deepseek_sparse_family;
extern const Family deepseek_v4_family;
extern const Family gemma_family;
extern const Family glm4_moe_family;
extern const Family gpt2_family;
extern const Family gpt_oss_family;
extern const Family granite_moe_family;
extern const Family kimi_linear_family;
extern const Family llama_family;
extern const Family llama4_family;
extern const Family mimo_v2_family;
extern const Family minimax_m2_family;
extern const Family mixtral_family;
extern const Family nemotron_family;
extern const Family nemotron_h_family;
extern const Family nemotron_nas_family;
extern const Family opt_family;
extern const Family palm_family;
extern const Family phi_family;
extern const Family phimoe_family;
extern const Family qwen2_family;
extern const Family qwen2_moe_family;
extern const Family qwen3_family;
extern const Family qwen3_moe_family;
extern const Family qwen3_next_family;

std::span<const Family* const> all_families() {
  static constexpr const Family* table[] = {
      &dbrx_family,        &deepseek_family,   &deepseek_sparse_family,
      &deepseek_v4_family, &gemma_family,      &glm4_moe_family,
      &gpt2_family,        &gpt_oss_family,    &granite_moe_family,
      &kimi_linear_family, &llama4_family,     &llama_family,
      &mimo_v2_family,     &minimax_m2_family, &mixtral_family,
      &nemotron_family,    &nemotron_h_family, &nemotron_nas_family,
      &opt_family,         &palm_family,       &phi_family,
      &phimoe_family,      &qwen2_family,      &qwen2_moe_family,
      &qwen3_family,       &qwen3_moe_family,  &qwen3_next_family,
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

std::string_view why_unmodelled(std::string_view model_type) {
  struct Entry {
    std::string_view model_type, reason;
  };
  static constexpr Entry known[] = {
      {"gemma4", "layers that share K and V and run a dense network beside experts"},
      {"gemma4_text", "layers that share K and V and run a dense network beside experts"},
      {"kimi_k3",
       "residuals over blocks of layers and gated latent attention, which no count confirms"},
      {"minimax_m3", "block-sparse attention, whose operators no published count confirms"},
      {"step3p7", "head counts of windowed layers that its configuration does not state"},
  };
  const auto it = std::ranges::find(known, model_type, &Entry::model_type);
  return it == std::end(known) ? std::string_view() : it->reason;
}

}  // namespace halmark
