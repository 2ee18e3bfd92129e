// The family table: one line per family.
#include <algorithm>

#include "core/lists.hpp"
#include "model/families/family.hpp"

namespace halmark {

extern const Family apertus_family;
extern const Family arcee_family;
extern const Family arctic_family;
extern const Family baichuan_family;
extern const Family bailing_moe_family;
extern const Family bamba_family;
extern const Family bert_family;
extern const Family bitnet_family;
extern const Family bloom_family;
extern const Family chatglm_family;
extern const Family cohere_family;
extern const Family dbrx_family;
extern const Family deepseek_family;
extern const Family deepseek_sparse_family;
extern const Family deepseek_v4_family;
extern const Family diffusion_family;
extern const Family dots1_family;
extern const Family encoder_decoder_family;
extern const Family ernie4_5_family;
extern const Family exaone_family;
extern const Family falcon_family;
extern const Family falcon_h1_family;
extern const Family gemma_family;
extern const Family gemma_layers_family;
extern const Family glm4_family;
extern const Family glm4_moe_family;
extern const Family gpt2_family;
extern const Family gpt_bigcode_family;
extern const Family gpt_neo_family;
extern const Family gpt_neox_family;
extern const Family gpt_oss_family;
extern const Family gptj_family;
extern const Family granite_moe_family;
extern const Family granite_moe_hybrid_family;
extern const Family grok_family;
extern const Family hunyuan_family;
extern const Family internlm2_family;
extern const Family internlm_family;
extern const Family jamba_family;
extern const Family kimi_linear_family;
extern const Family lfm2_family;
extern const Family llama4_family;
extern const Family llama_family;
extern const Family mamba2_family;
extern const Family mamba_family;
extern const Family mimo_v2_family;
extern const Family minicpm3_family;
extern const Family minimax_family;
extern const Family minimax_m2_family;
extern const Family minimax_m3_family;
extern const Family mixtral_family;
extern const Family mllama_family;
extern const Family modern_bert_family;
extern const Family mpt_family;
extern const Family nemotron_family;
extern const Family nemotron_h_family;
extern const Family nemotron_nas_family;
extern const Family olmo2_family;
extern const Family olmo_family;
extern const Family olmoe_family;
extern const Family openelm_family;
extern const Family opt_family;
extern const Family palm_family;
extern const Family persimmon_family;
extern const Family phi3small_family;
extern const Family phi_family;
extern const Family phimoe_family;
extern const Family plamo_family;
extern const Family qwen2_family;
extern const Family qwen2_moe_family;
extern const Family qwen3_family;
extern const Family qwen3_moe_family;
extern const Family qwen3_next_family;
extern const Family qwen_family;
extern const Family recurrent_gemma_family;
extern const Family rwkv_family;
extern const Family seed_oss_family;
extern const Family smollm3_family;
extern const Family stablelm_family;
extern const Family starcoder2_family;
extern const Family step3p7_family;
extern const Family stored_matrices_family;

namespace {
constexpr const Family* table[] = {
    &apertus_family,
    &arcee_family,
    &arctic_family,
    &baichuan_family,
    &bailing_moe_family,
    &bamba_family,
    &bert_family,
    &bitnet_family,
    &bloom_family,
    &chatglm_family,
    &cohere_family,
    &dbrx_family,
    &deepseek_family,
    &deepseek_sparse_family,
    &deepseek_v4_family,
    &diffusion_family,
    &dots1_family,
    &encoder_decoder_family,
    &ernie4_5_family,
    &exaone_family,
    &falcon_family,
    &falcon_h1_family,
    &gemma_family,
    &gemma_layers_family,
    &glm4_family,
    &glm4_moe_family,
    &gpt2_family,
    &gpt_bigcode_family,
    &gpt_neo_family,
    &gpt_neox_family,
    &gpt_oss_family,
    &gptj_family,
    &granite_moe_family,
    &granite_moe_hybrid_family,
    &grok_family,
    &hunyuan_family,
    &internlm2_family,
    &internlm_family,
    &jamba_family,
    &kimi_linear_family,
    &lfm2_family,
    &llama4_family,
    &llama_family,
    &mamba2_family,
    &mamba_family,
    &mimo_v2_family,
    &minicpm3_family,
    &minimax_family,
    &minimax_m2_family,
    &minimax_m3_family,
    &mixtral_family,
    &mllama_family,
    &modern_bert_family,
    &mpt_family,
    &nemotron_family,
    &nemotron_h_family,
    &nemotron_nas_family,
    &olmo2_family,
    &olmo_family,
    &olmoe_family,
    &openelm_family,
    &opt_family,
    &palm_family,
    &persimmon_family,
    &phi3small_family,
    &phi_family,
    &phimoe_family,
    &plamo_family,
    &qwen2_family,
    &qwen2_moe_family,
    &qwen3_family,
    &qwen3_moe_family,
    &qwen3_next_family,
    &qwen_family,
    &recurrent_gemma_family,
    &rwkv_family,
    &seed_oss_family,
    &smollm3_family,
    &stablelm_family,
    &starcoder2_family,
    &step3p7_family,
    &stored_matrices_family,
};
}  // namespace

std::span<const Family* const> all_families() { return table; }

const Family* find_family(std::string_view name) {
  const auto families = all_families();
  const auto* it = find_or_null(families, name, &Family::name);
  return !it ? nullptr : *it;
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
