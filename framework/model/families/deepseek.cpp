// DeepSeek-V2 and V3 and Kimi-K2: latent attention, the first layers dense, then routed and shared
// experts. DeepSeek-MoE and the small text sides of DeepSeek-VL2 have plain attention instead.

#include "model/families/latent.hpp"

namespace halmark {

namespace {

bool is_latent(const ConfigReader& config, const ModelSpec& spec) {
  const bool is_off = config.has("use_mla") && !config.is_set("use_mla");
  const bool has_ranks = config.size("kv_lora_rank") || config.size("qk_nope_head_dim");
  return spec.architecture != "deepseek" && !is_off && has_ranks;
}

void read_plain(ConfigReader& config, ModelSpec& spec) {
  config.ignore({"kv_lora_rank", "q_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim",
                 "v_head_dim", "use_mla", "lm_head", "rm_head"});
  moe::refuse_unmodelled(
      config, {"first_k_dense_replace", "n_shared_experts", "q_lora_rank", "kv_lora_rank"});
  decoder::read_sizes(config, spec);
  latent::read_networks(config, spec);
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
}

void read_deepseek(ConfigReader& config, ModelSpec& spec) {
  config.ignore({"lm_head", "rm_head"});
  is_latent(config, spec) ? latent::read(config, spec, {}) : read_plain(config, spec);
}

void build_deepseek(const ModelSpec& spec, GraphBuilder& b) {
  (spec.latent ? latent::build : moe::build)(spec, b);
}

void predict_deepseek(const ModelSpec& spec, GraphBuilder& b) {
  (spec.latent ? latent::predict : moe::predict)(spec, b);
}

}  // namespace

extern const Family deepseek_family = {
    "deepseek",
    {"deepseek", "deepseek_v2", "deepseek_v3", "kimi_k2", "kimi_k25", "glm4_moe_lite"},
    &read_deepseek,
    &build_deepseek,
    &predict_deepseek};

}  // namespace halmark
