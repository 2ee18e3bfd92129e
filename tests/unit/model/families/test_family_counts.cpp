// Parameters of the families that the modules of transformers do not count here, against published
// counts and against a formula of their matrices' shapes written by hand: both at the published
// sizes and with every size one step further, so that no count comes out of a table.

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "fixtures.hpp"

namespace halmark::family_counts {
namespace {

using namespace model_test;

std::int64_t parameters_of(const Json& config) {
  const ModelSpec spec = read_model(config.dump(), "config.json");
  const Configuration load = spec.is_causal ? decode(1, 16) : prefill(1, 16, 16);
  return graph_of(spec, load).totals.parameters;
}

// Sizes of a configuration by name, of the language tower where there is one.
class Sizes {
 public:
  explicit Sizes(const Json& config)
      : config_(config.contains("text_config") ? config.at("text_config") : config) {}
  std::int64_t operator()(const char* field) const {
    const Json& value = config_.at(field);
    return value.is_boolean() ? (value.get<bool>() ? 1 : 0) : value.get<std::int64_t>();
  }
  const Json& json(const char* field) const { return config_.at(field); }

 private:
  const Json& config_;
};

// Projections of attention without biases: q and o over all heads, k and v over those of their own.
std::int64_t attention(std::int64_t hidden, std::int64_t heads, std::int64_t kv_heads,
                       std::int64_t width) {
  return hidden * width * (2 * heads + 2 * kv_heads);
}
std::int64_t gated(std::int64_t hidden, std::int64_t width) { return 3 * hidden * width; }

using Formula = std::int64_t (*)(const Sizes&);
struct Step {
  const char* field;
  std::int64_t by;
};
struct Row {
  const char* name;
  const char* config;
  std::int64_t published;  // 0: none, the formula alone
  Formula formula;
  std::vector<Step> steps;
};

std::int64_t lfm2(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = h / s("num_attention_heads");
  const std::int64_t multiple = s("block_multiple_of");
  const std::int64_t ffn = (2 * s("block_ff_dim") / 3 + multiple - 1) / multiple * multiple;
  const auto attends = static_cast<std::int64_t>(s.json("full_attn_idxs").size());
  const std::int64_t conv = 4 * h * h + h * s("conv_L_cache");
  const std::int64_t attn =
      attention(h, s("num_attention_heads"), s("num_key_value_heads"), d) + 2 * d;
  const std::int64_t layers = s("num_hidden_layers");
  return s("vocab_size") * h + h + layers * (gated(h, ffn) + 2 * h) + attends * attn +
         (layers - attends) * conv;
}

std::int64_t lfm2_moe(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = h / s("num_attention_heads");
  const std::int64_t layers = s("num_hidden_layers"), dense = s("num_dense_layers");
  std::int64_t attends = 0;
  for (const Json& type : s.json("layer_types")) attends += type == "full_attention" ? 1 : 0;
  const std::int64_t experts =
      s("num_experts") * gated(h, s("moe_intermediate_size")) + s("num_experts") * h;
  return s("vocab_size") * h + h + layers * 2 * h + dense * gated(h, s("intermediate_size")) +
         (layers - dense) * experts +
         attends * (attention(h, s("num_attention_heads"), s("num_key_value_heads"), d) + 2 * d) +
         (layers - attends) * (4 * h * h + h * s("conv_L_cache"));
}

std::int64_t chatglm(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = s("kv_channels");
  const std::int64_t heads = s("num_attention_heads"), kv = s("multi_query_group_num");
  const std::int64_t layer =
      attention(h, heads, kv, d) + d * (heads + 2 * kv) + gated(h, s("ffn_hidden_size")) + 2 * h;
  return 2 * s("padded_vocab_size") * h + h + s("num_layers") * layer;
}

std::int64_t glm4(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = s("head_dim");
  const std::int64_t heads = s("num_attention_heads"), kv = s("num_key_value_heads");
  const std::int64_t layer =
      attention(h, heads, kv, d) + d * (heads + 2 * kv) + gated(h, s("intermediate_size")) + 4 * h;
  return 2 * s("vocab_size") * h + h + s("num_hidden_layers") * layer;
}

std::int64_t apertus(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = h / s("num_attention_heads");
  const std::int64_t layer = attention(h, s("num_attention_heads"), s("num_key_value_heads"), d) +
                             2 * d + 2 * h * s("intermediate_size") + 2 * h + 2;
  return 2 * s("vocab_size") * h + h + s("num_hidden_layers") * layer;
}

std::int64_t stablelm(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = h / s("num_attention_heads");
  const std::int64_t heads = s("num_attention_heads"), kv = s("num_key_value_heads");
  const std::int64_t layer = attention(h, heads, kv, d) + gated(h, s("intermediate_size")) +
                             (s("use_qkv_bias") != 0 ? d * (heads + 2 * kv) : 0) + 4 * h;
  return 2 * s("vocab_size") * h + 2 * h + s("num_hidden_layers") * layer;
}

std::int64_t plain_llama(const Sizes& s) {
  const std::int64_t h = s("hidden_size");
  return 2 * s("vocab_size") * h + h +
         s("num_hidden_layers") * (4 * h * h + gated(h, s("intermediate_size")) + 2 * h);
}

std::int64_t internlm(const Sizes& s) {
  return plain_llama(s) + s("num_hidden_layers") * 4 * s("hidden_size");
}

std::int64_t qwen(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), all = s("kv_channels") * s("num_attention_heads");
  return 2 * s("vocab_size") * h + h +
         s("num_hidden_layers") *
             (4 * h * all + 3 * all + gated(h, s("intermediate_size") / 2) + 2 * h);
}

std::int64_t phi3small(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = h / s("num_attention_heads");
  const std::int64_t heads = s("num_attention_heads"), kv = s("num_key_value_heads");
  const std::int64_t f = s("ff_intermediate_size");
  const std::int64_t layer =
      attention(h, heads, kv, d) + d * (heads + 2 * kv) + h + gated(h, f) + 2 * f + h + 4 * h;
  return s("vocab_size") * h + 2 * h + s("num_hidden_layers") * layer;
}

std::int64_t bailing(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = h / s("num_attention_heads");
  const std::int64_t width = s("moe_intermediate_size"), experts = s("num_experts");
  const std::int64_t dense = s("first_k_dense_replace"), layers = s("num_hidden_layers");
  const std::int64_t sparse = (experts + s("num_shared_experts")) * gated(h, width) + experts * h;
  return 2 * s("vocab_size") * h + h +
         layers * (attention(h, s("num_attention_heads"), s("num_key_value_heads"), d) + 2 * h) +
         dense * gated(h, s("intermediate_size")) + (layers - dense) * sparse;
}

std::int64_t mamba2(std::int64_t h, std::int64_t width, std::int64_t heads, std::int64_t groups,
                    std::int64_t state, std::int64_t kernel) {
  const std::int64_t convolved = width + 2 * groups * state;
  return h * (width + convolved + heads) + convolved * (kernel + 1) + 3 * heads + width * h;
}

std::int64_t granite(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = h / s("num_attention_heads");
  const std::int64_t experts = s("num_local_experts"), width = s("mamba_expand") * h;
  std::int64_t out = s("vocab_size") * h + h;
  for (const Json& type : s.json("layer_types")) {
    out += type == "attention" ? attention(h, s("num_attention_heads"), s("num_key_value_heads"), d)
                               : mamba2(h, width, s("mamba_n_heads"), s("mamba_n_groups"),
                                        s("mamba_d_state"), s("mamba_d_conv")) +
                                     width;
    out += gated(h, s("shared_intermediate_size")) + 2 * h;
    if (experts > 0) out += experts * (gated(h, s("intermediate_size")) + h);
  }
  return out;
}

std::int64_t falcon_h1(const Sizes& s) {
  const std::int64_t h = s("hidden_size");
  const std::int64_t layer =
      attention(h, s("num_attention_heads"), s("num_key_value_heads"), s("head_dim")) +
      mamba2(h, s("mamba_d_ssm"), s("mamba_n_heads"), s("mamba_n_groups"), s("mamba_d_state"),
             s("mamba_d_conv")) +
      gated(h, s("intermediate_size")) + 2 * h;
  return (s("tie_word_embeddings") != 0 ? 1 : 2) * s("vocab_size") * h + h +
         s("num_hidden_layers") * layer;
}

std::int64_t bitnet(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = h / s("num_attention_heads");
  const std::int64_t layer = attention(h, s("num_attention_heads"), s("num_key_value_heads"), d) +
                             gated(h, s("intermediate_size")) + 3 * h + s("intermediate_size");
  return s("vocab_size") * h + h + s("num_hidden_layers") * layer;
}

// Layers behind the shared ones project no keys; those that see everything have a width of their
// own, and where keys are values one projection less.
std::int64_t gemma4(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), heads = s("num_attention_heads");
  const std::int64_t layers = s("num_hidden_layers"), shared = s("num_kv_shared_layers");
  const std::int64_t ple = s("hidden_size_per_layer_input");
  std::int64_t out = s("vocab_size") * h + h;
  if (ple > 0) out += layers * ple * (s("vocab_size_per_layer_input") + h) + ple;
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool full = s.json("layer_types").at(as_size(i)) == "full_attention";
    const bool equal = full && s("attention_k_eq_v") != 0, reads = i >= layers - shared;
    const std::int64_t d = s(full ? "global_head_dim" : "head_dim");
    const std::int64_t kv = s(equal ? "num_global_key_value_heads" : "num_key_value_heads");
    out += 2 * h * heads * d + d + 4 * h;
    if (!reads) out += (equal ? 1 : 2) * h * kv * d + d;
    out += gated(h, s("intermediate_size")) * (reads && s("use_double_wide_mlp") != 0 ? 2 : 1);
    if (ple > 0) out += 2 * h * ple + h;
    if (s("enable_moe_block") == 0) continue;
    const std::int64_t experts = s("num_experts");
    out += experts * (gated(h, s("moe_intermediate_size")) + h + 1) + 4 * h;
  }
  return out;
}

std::int64_t gemma3n(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = s("head_dim"), layers = s("num_hidden_layers");
  const std::int64_t streams = s("altup_num_inputs"), ple = s("hidden_size_per_layer_input");
  const std::int64_t rank = s("laurel_rank"), unshared = layers - s("num_kv_shared_layers");
  const std::int64_t altup = h + streams * streams + streams * streams * streams + h * streams + h;
  const std::int64_t layer = 2 * h * s("num_attention_heads") * d + d + 4 * h +
                             gated(h, s("intermediate_size")) + altup + 2 * h * rank + h +
                             2 * h * ple + h;
  return s("vocab_size") * h + h + layers * ple * (s("vocab_size_per_layer_input") + h) + ple +
         2 * (streams - 1) * h * h + layers * layer +
         unshared * (2 * h * s("num_key_value_heads") * d + d);
}

std::int64_t minimax_m3(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = s("head_dim"), layers = s("num_hidden_layers");
  const std::int64_t dense = s("first_k_dense_replace"), experts = s("num_local_experts");
  const Json& sparse = s.json("sparse_attention_config");
  const auto index = sparse.at("sparse_index_dim").get<std::int64_t>();
  const auto heads = sparse.at("sparse_num_index_heads").get<std::int64_t>();
  std::int64_t indexed = 0;
  for (const Json& one : sparse.at("sparse_attention_freq")) indexed += one.get<std::int64_t>();
  return 2 * s("vocab_size") * h + h +
         layers *
             (attention(h, s("num_attention_heads"), s("num_key_value_heads"), d) + 2 * d + 2 * h) +
         dense * gated(h, s("dense_intermediate_size")) +
         (layers - dense) * (experts * (gated(h, s("moe_intermediate_size")) + h) +
                             gated(h, s("shared_intermediate_size"))) +
         indexed * (h * index * (heads + 1) + 2 * index);
}

std::int64_t step3p7(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = s("head_dim"), layers = s("num_hidden_layers");
  const std::int64_t experts = s("moe_num_experts"), kv = s("num_attention_groups");
  const auto other =
      s.json("attention_other_setting").at("num_attention_heads").get<std::int64_t>();
  std::int64_t out = 2 * s("vocab_size") * h + h;
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool full = s.json("layer_types").at(as_size(i)) == "full_attention";
    const std::int64_t heads = full ? s("num_attention_heads") : other;
    out += attention(h, heads, kv, d) + heads * h + 2 * d + 2 * h;
    out += i < 1 ? gated(h, s("intermediate_size"))
                 : experts * (gated(h, s("moe_intermediate_size")) + h) +
                       gated(h, s("share_expert_dim"));
  }
  return out;
}

std::int64_t mllama(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = h / s("num_attention_heads");
  const auto cross = static_cast<std::int64_t>(s.json("cross_attention_layers").size());
  const std::int64_t layer = attention(h, s("num_attention_heads"), s("num_key_value_heads"), d) +
                             gated(h, s("intermediate_size")) + 2 * h;
  return (2 * s("vocab_size") + 8) * h + h + s("num_hidden_layers") * layer +
         cross * (2 * d + 2);  // norms of heads, and two gates
}

std::int64_t bert(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), f = s("intermediate_size");
  return (s("vocab_size") + s("max_position_embeddings") + s("type_vocab_size") + 2) * h +
         s("num_hidden_layers") * (4 * h * h + 4 * h + 2 * h * f + f + h + 4 * h) + h * h + h;
}

// A transform of the pooler's size, a norm and a bias for each word in its place.
std::int64_t bert_lm(const Sizes& s) { return bert(s) + 2 * s("hidden_size") + s("vocab_size"); }
// Whether each token was replaced.
std::int64_t electra(const Sizes& s) { return bert(s) + s("hidden_size") + 1; }

std::int64_t modernbert(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), layers = s("num_hidden_layers");
  return s("vocab_size") * h + h + layers * (4 * h * h + gated(h, s("intermediate_size"))) +
         (2 * layers - 1) * h + h + h * h + h + s("vocab_size");
}

std::int64_t nomic(const Sizes& s) {
  const std::int64_t h = s("n_embd");
  return (s("vocab_size") + s("type_vocab_size") + 2) * h +
         s("n_layer") * (4 * h * h + gated(h, s("n_inner")) + 4 * h);
}

std::int64_t llada(const Sizes& s) {
  const std::int64_t h = s("d_model"), d = h / s("n_heads");
  return 2 * s("embedding_size") * h + h +
         s("n_layers") * (attention(h, s("n_heads"), s("n_kv_heads"), d) +
                          gated(h, s("mlp_hidden_size")) + 2 * h);
}

std::int64_t plain_deepseek(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), experts = s("n_routed_experts");
  const std::int64_t dense = s("first_k_dense_replace"), layers = s("num_hidden_layers");
  return 2 * s("vocab_size") * h + h + layers * (4 * h * h + 2 * h) +
         dense * gated(h, s("intermediate_size")) +
         (layers - dense) *
             ((experts + s("n_shared_experts")) * gated(h, s("moe_intermediate_size")) +
              experts * h);
}

std::int64_t bloom(const Sizes& s) {
  const std::int64_t h = s("n_embed");
  return s("vocab_size") * h + 2 * h + s("n_layer") * (12 * h * h + 13 * h) + 2 * h;
}

std::int64_t gpt_bigcode(const Sizes& s) {
  const std::int64_t h = s("n_embd"), d = h / s("n_head"), f = s("n_inner");
  return (s("vocab_size") + s("n_positions")) * h + 2 * h +
         s("n_layer") *
             (attention(h, s("n_head"), 1, d) + h + 2 * d + h + 2 * h * f + f + h + 4 * h);
}

std::int64_t olmo(const Sizes& s) {
  const std::int64_t h = s("hidden_size");
  return 2 * s("vocab_size") * h +
         s("num_hidden_layers") * (4 * h * h + gated(h, s("intermediate_size")));
}

// Two sides, of which the decoder attends twice; a bias per bucket and head on either.
std::int64_t t5(const Sizes& s) {
  const std::int64_t h = s("d_model"), inner = s("d_kv") * s("num_heads");
  const std::int64_t attn = 4 * h * inner, ffn = 2 * h * s("d_ff");
  return s("vocab_size") * h + s("num_layers") * (3 * attn + 2 * ffn + 5 * h) + 2 * h +
         2 * s("relative_attention_num_buckets") * s("num_heads");
}

// Keys have no bias.
std::int64_t whisper(const Sizes& s) {
  const std::int64_t h = s("d_model"), attn = 4 * h * h + 3 * h;
  const auto ffn = [&](const char* width) { return 2 * h * s(width) + s(width) + h; };
  return s("vocab_size") * h + (s("max_source_positions") + s("max_target_positions")) * h +
         3 * h * (s("num_mel_bins") + h) + 2 * h +
         s("encoder_layers") * (attn + ffn("encoder_ffn_dim") + 4 * h) +
         s("decoder_layers") * (2 * attn + ffn("decoder_ffn_dim") + 6 * h) + 4 * h;
}

std::int64_t bart(const Sizes& s) {
  const std::int64_t h = s("d_model"), attn = 4 * h * h + 4 * h;
  const auto ffn = [&](const char* width) { return 2 * h * s(width) + s(width) + h; };
  return s("vocab_size") * h + 2 * (s("max_position_embeddings") + 2) * h + 4 * h +
         s("encoder_layers") * (attn + ffn("encoder_ffn_dim") + 4 * h) +
         s("decoder_layers") * (2 * attn + ffn("decoder_ffn_dim") + 6 * h);
}

// Configurations as their repositories write them, or in sizes of a hand's width where nobody has
// published a count.
std::vector<Row> rows() {
  return {
      {"LFM2-350M",
       R"({"model_type": "lfm2", "vocab_size": 65536, "hidden_size": 1024,
        "num_hidden_layers": 16, "num_attention_heads": 16, "num_key_value_heads": 8,
        "block_ff_dim": 6656, "block_auto_adjust_ff_dim": true, "block_ffn_dim_multiplier": 1.0,
        "block_multiple_of": 256, "conv_L_cache": 3, "conv_bias": false,
        "full_attn_idxs": [2, 5, 8, 10, 12, 14]})",
       354'483'968,
       lfm2,
       {{"vocab_size", 1},
        {"hidden_size", 32},
        {"num_hidden_layers", 1},
        {"num_key_value_heads", 8},
        {"block_ff_dim", 900},
        {"block_multiple_of", 1},
        {"conv_L_cache", 1}}},
      {"LFM2-8B-A1B",
       R"({"model_type": "lfm2_moe", "vocab_size": 65536, "hidden_size": 2048,
        "num_hidden_layers": 24, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 7168, "moe_intermediate_size": 1792, "num_dense_layers": 2,
        "num_experts": 32, "num_experts_per_tok": 4, "conv_L_cache": 3, "layer_types": ["conv",
        "conv", "full_attention", "conv", "conv", "conv", "full_attention", "conv", "conv", "conv",
        "full_attention", "conv", "conv", "conv", "full_attention", "conv", "conv", "conv",
        "full_attention", "conv", "conv", "full_attention", "conv", "conv"]})",
       8'339'929'856,
       lfm2_moe,
       {{"vocab_size", 1},
        {"hidden_size", 64},
        {"num_key_value_heads", 8},
        {"intermediate_size", 2},
        {"moe_intermediate_size", 2},
        {"num_dense_layers", 1},
        {"num_experts", 1},
        {"conv_L_cache", 1}}},
      {"ChatGLM3-6B",
       R"({"model_type": "chatglm", "architectures": ["ChatGLMModel"],
        "add_bias_linear": false, "add_qkv_bias": true, "ffn_hidden_size": 13696,
        "hidden_size": 4096, "kv_channels": 128, "multi_query_attention": true,
        "multi_query_group_num": 2, "num_attention_heads": 32, "num_layers": 28,
        "padded_vocab_size": 65024, "post_layer_norm": true, "rmsnorm": true, "seq_length": 8192,
        "tie_word_embeddings": false})",
       6'243'584'000,
       chatglm,
       {{"padded_vocab_size", 1},
        {"hidden_size", 2},
        {"num_layers", 1},
        {"kv_channels", 4},
        {"multi_query_group_num", 2},
        {"ffn_hidden_size", 1}}},
      {"GLM-4-32B-0414",
       R"({"model_type": "glm4", "head_dim": 128,
        "hidden_size": 6144, "intermediate_size": 23040, "num_attention_heads": 48,
        "num_hidden_layers": 61, "num_key_value_heads": 2, "partial_rotary_factor": 0.5,
        "attention_bias": true, "tie_word_embeddings": false, "vocab_size": 151552})",
       0,
       glm4,
       {{"vocab_size", 1},
        {"hidden_size", 2},
        {"num_hidden_layers", 1},
        {"head_dim", 4},
        {"num_key_value_heads", 1},
        {"intermediate_size", 1}}},
      {"Apertus-8B",
       R"({"model_type": "apertus", "hidden_act": "xielu", "hidden_size": 4096,
        "intermediate_size": 21504, "mlp_bias": false, "num_attention_heads": 32,
        "num_hidden_layers": 32, "num_key_value_heads": 8, "post_norm": false, "qk_norm": true,
        "tie_word_embeddings": false, "vocab_size": 131072})",
       8'053'338'176,
       apertus,
       {{"vocab_size", 1},
        {"hidden_size", 64},
        {"num_hidden_layers", 1},
        {"num_key_value_heads", 8},
        {"intermediate_size", 1}}},
      {"StableLM-3B-4E1T",
       R"({"model_type": "stablelm", "hidden_size": 2560,
        "intermediate_size": 6912, "num_attention_heads": 32, "num_hidden_layers": 32,
        "num_key_value_heads": 32, "partial_rotary_factor": 0.25, "tie_word_embeddings": false,
        "use_qkv_bias": false, "vocab_size": 50304})",
       2'795'443'200,
       stablelm,
       {{"vocab_size", 1},
        {"hidden_size", 256},
        {"num_hidden_layers", 1},
        {"num_key_value_heads", -16},
        {"intermediate_size", 1}}},
      {"Baichuan-7B",
       R"({"model_type": "baichuan", "hidden_size": 4096,
        "intermediate_size": 11008, "max_position_embeddings": 4096, "model_max_length": 4096,
        "num_attention_heads": 32, "num_hidden_layers": 32, "tie_word_embeddings": false,
        "vocab_size": 64000})",
       7'000'559'616,
       plain_llama,
       {{"vocab_size", 1},
        {"hidden_size", 64},
        {"num_hidden_layers", 1},
        {"intermediate_size", 1}}},
      {"Baichuan2-13B",
       R"({"model_type": "baichuan", "hidden_size": 5120,
        "intermediate_size": 13696, "model_max_length": 4096, "num_attention_heads": 40,
        "num_hidden_layers": 40, "tie_word_embeddings": false, "vocab_size": 125696})",
       13'896'668'160,
       plain_llama,
       {{"vocab_size", 1}, {"intermediate_size", 1}}},
      {"InternLM-7B",
       R"({"model_type": "internlm", "bias": true, "hidden_size": 4096,
        "intermediate_size": 11008, "num_attention_heads": 32, "num_hidden_layers": 32,
        "tie_word_embeddings": false, "vocab_size": 103168})",
       7'321'948'160,
       internlm,
       {{"vocab_size", 1},
        {"hidden_size", 64},
        {"num_hidden_layers", 1},
        {"intermediate_size", 1}}},
      {"XVERSE-7B",
       R"({"model_type": "xverse", "hidden_size": 4096, "intermediate_size": 11008,
        "num_attention_heads": 32, "num_hidden_layers": 32, "tie_word_embeddings": false,
        "vocab_size": 100534})",
       0,
       plain_llama,
       {{"vocab_size", 1}, {"intermediate_size", 1}}},
      {"Qwen-7B",
       R"({"model_type": "qwen", "hidden_size": 4096, "intermediate_size": 22016,
        "kv_channels": 128, "max_position_embeddings": 32768, "no_bias": true,
        "num_attention_heads": 32, "num_hidden_layers": 32, "rotary_pct": 1.0, "seq_length": 8192,
        "tie_word_embeddings": false, "vocab_size": 151936})",
       7'721'324'544,
       qwen,
       {{"vocab_size", 1},
        {"hidden_size", 2},
        {"num_hidden_layers", 1},
        {"kv_channels", 2},
        {"intermediate_size", 2}}},
      {"Phi-3-small",
       R"({"model_type": "phi3small", "ff_intermediate_size": 14336,
        "ff_dim_multiplier": null, "hidden_act": "gegelu", "hidden_size": 4096,
        "dense_attention_every_n_layers": 2, "num_attention_heads": 32, "num_hidden_layers": 32,
        "num_key_value_heads": 8, "vocab_size": 100352})",
       7'392'272'384,
       phi3small,
       {{"vocab_size", 1},
        {"hidden_size", 64},
        {"num_hidden_layers", 1},
        {"num_key_value_heads", 8},
        {"ff_intermediate_size", 1}}},
      {"Ling-lite",
       R"({"model_type": "bailing_moe", "first_k_dense_replace": 0,
        "hidden_size": 2048, "intermediate_size": 5632, "moe_intermediate_size": 1408,
        "norm_topk_prob": true, "num_attention_heads": 16, "num_experts": 64,
        "num_experts_per_tok": 6, "num_hidden_layers": 28, "num_key_value_heads": 4,
        "num_shared_experts": 2, "tie_word_embeddings": false, "use_bias": false,
        "use_qkv_bias": false, "vocab_size": 126464})",
       16'801'974'272,
       bailing,
       {{"vocab_size", 1},
        {"hidden_size", 32},
        {"num_hidden_layers", 1},
        {"first_k_dense_replace", 2},
        {"moe_intermediate_size", 1},
        {"num_experts", 1},
        {"num_shared_experts", 1}}},
      {"a small Granite 4",
       R"({"model_type": "granitemoehybrid", "hidden_size": 64,
        "intermediate_size": 24, "shared_intermediate_size": 40, "num_attention_heads": 4,
        "num_key_value_heads": 2, "num_hidden_layers": 3, "num_local_experts": 6,
        "num_experts_per_tok": 2, "layer_types": ["mamba", "attention", "mamba"],
        "mamba_n_heads": 8, "mamba_n_groups": 2, "mamba_d_state": 16, "mamba_d_head": "auto",
        "mamba_d_conv": 4, "mamba_expand": 2, "position_embedding_type": "nope",
        "tie_word_embeddings": true, "vocab_size": 128})",
       0,
       granite,
       {{"vocab_size", 1},
        {"intermediate_size", 1},
        {"shared_intermediate_size", 1},
        {"num_key_value_heads", 2},
        {"num_local_experts", 1},
        {"num_local_experts", -6},
        {"mamba_n_heads", 8},
        {"mamba_n_groups", 2},
        {"mamba_d_state", 1},
        {"mamba_d_conv", 1},
        {"mamba_expand", 1}}},
      {"Falcon-H1-0.5B",
       R"({"model_type": "falcon_h1", "attention_bias": false, "head_dim": 64,
        "hidden_size": 1024, "intermediate_size": 2048, "mamba_conv_bias": true, "mamba_d_conv": 4,
        "mamba_d_head": 64, "mamba_d_ssm": 1536, "mamba_d_state": 128, "mamba_expand": 2,
        "mamba_n_groups": 1, "mamba_n_heads": 24, "mamba_rms_norm": false, "mlp_bias": false,
        "num_attention_heads": 8, "num_hidden_layers": 36, "num_key_value_heads": 2,
        "projectors_bias": false, "tie_word_embeddings": false, "vocab_size": 32784})",
       521'411'104,
       falcon_h1,
       {{"vocab_size", 1},
        {"hidden_size", 8},
        {"num_hidden_layers", 1},
        {"head_dim", 2},
        {"num_key_value_heads", 2},
        {"intermediate_size", 1},
        {"mamba_d_state", 1},
        {"mamba_n_groups", 1},
        {"mamba_d_conv", 1}}},
      {"BitNet-b1.58-2B-4T",
       R"({"model_type": "bitnet", "hidden_act": "relu2",
        "hidden_size": 2560, "intermediate_size": 6912, "num_attention_heads": 20,
        "num_hidden_layers": 30, "num_key_value_heads": 5, "tie_word_embeddings": true,
        "vocab_size": 128256})",
       2'412'820'480,
       bitnet,
       {{"vocab_size", 1},
        {"hidden_size", 40},
        {"num_hidden_layers", 1},
        {"num_key_value_heads", 5},
        {"intermediate_size", 1}}},
      {"a small Gemma 4",
       R"({"model_type": "gemma4", "text_config": {"model_type": "gemma4_text",
        "attention_k_eq_v": true, "enable_moe_block": true, "global_head_dim": 16, "head_dim": 8,
        "hidden_size": 32, "hidden_size_per_layer_input": 4, "intermediate_size": 24,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention",
        "full_attention"], "moe_intermediate_size": 12, "num_attention_heads": 8, "num_experts": 6,
        "num_global_key_value_heads": 2, "num_hidden_layers": 4, "num_key_value_heads": 4,
        "num_kv_shared_layers": 2, "sliding_window": 8, "tie_word_embeddings": true,
        "top_k_experts": 2, "use_double_wide_mlp": true, "vocab_size": 64,
        "vocab_size_per_layer_input": 48}})",
       0,
       gemma4,
       {{"vocab_size", 1},
        {"vocab_size_per_layer_input", 1},
        {"hidden_size", 1},
        {"hidden_size_per_layer_input", 1},
        {"hidden_size_per_layer_input", -4},
        {"head_dim", 2},
        {"global_head_dim", 2},
        {"num_key_value_heads", 4},
        {"num_global_key_value_heads", 2},
        {"num_kv_shared_layers", -2},
        {"intermediate_size", 1},
        {"moe_intermediate_size", 1},
        {"num_experts", 1}}},
      {"Gemma 3n by its class",
       R"({"model_type": "gemma3n", "text_config":
        {"model_type": "gemma3n_text", "hidden_size": 2048, "hidden_size_per_layer_input": 256,
        "intermediate_size": 16384, "num_hidden_layers": 35, "num_attention_heads": 8,
        "num_key_value_heads": 2, "head_dim": 256, "vocab_size": 262400,
        "vocab_size_per_layer_input": 262144, "altup_num_inputs": 4, "laurel_rank": 64,
        "num_kv_shared_layers": 15, "sliding_window": 512}})",
       0,
       gemma3n,
       {{"vocab_size", 1},
        {"hidden_size", 2},
        {"head_dim", 2},
        {"num_key_value_heads", 2},
        {"intermediate_size", 1},
        {"altup_num_inputs", 1},
        {"laurel_rank", 1},
        {"num_kv_shared_layers", 1},
        {"hidden_size_per_layer_input", 1}}},
      {"a small MiniMax-M3",
       R"({"model_type": "minimax_m3", "dense_intermediate_size": 40,
        "first_k_dense_replace": 1, "head_dim": 8, "hidden_act": "swigluoai", "hidden_size": 32,
        "intermediate_size": 12, "moe_intermediate_size": 12, "moe_layer_freq": [0, 1, 1],
        "n_shared_experts": 1, "num_attention_heads": 8, "num_experts_per_tok": 2,
        "num_hidden_layers": 3, "num_key_value_heads": 2, "num_local_experts": 6,
        "qk_norm_type": "per_head", "rotary_dim": 4, "shared_intermediate_size": 20,
        "sparse_attention_config": {"sparse_attention_freq": [0, 1, 1], "sparse_block_size": 16,
        "sparse_index_dim": 4, "sparse_num_index_heads": 2, "sparse_topk_blocks": 2,
        "use_sparse_attention": true}, "tie_word_embeddings": false, "vocab_size": 64})",
       0,
       minimax_m3,
       {{"vocab_size", 1},
        {"hidden_size", 1},
        {"head_dim", 2},
        {"num_key_value_heads", 2},
        {"num_local_experts", 1},
        {"moe_intermediate_size", 1},
        {"dense_intermediate_size", 1},
        {"shared_intermediate_size", 1}}},
      {"a small Step-3.5",
       R"({"model_type": "step3p5", "attention_other_setting":
        {"attention_type": "sliding_attention", "num_attention_heads": 12}, "head_dim": 8,
        "hidden_size": 32, "intermediate_size": 40, "layer_types": ["full_attention",
        "sliding_attention", "sliding_attention", "full_attention"], "moe_intermediate_size": 12,
        "moe_layers_enum": "1,2", "moe_num_experts": 6, "moe_top_k": 2, "num_attention_groups": 4,
        "num_attention_heads": 8, "num_hidden_layers": 3, "num_nextn_predict_layers": 1,
        "share_expert_dim": 20, "sliding_window": 8, "use_head_wise_attn_gate": true,
        "tie_word_embeddings": false, "vocab_size": 64})",
       0,
       step3p7,
       {{"vocab_size", 1},
        {"hidden_size", 1},
        {"head_dim", 2},
        {"num_attention_groups", -2},
        {"num_attention_heads", 4},
        {"intermediate_size", 1},
        {"moe_num_experts", 1},
        {"moe_intermediate_size", 1},
        {"share_expert_dim", 1}}},
      {"Llama-3.2-11B-Vision, its text side",
       R"({"model_type": "mllama", "text_config":
        {"model_type": "mllama_text_model", "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33,
        38], "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
        "num_hidden_layers": 40, "num_key_value_heads": 8, "tie_word_embeddings": false,
        "vocab_size": 128256}, "vision_config": {"image_size": 560, "patch_size": 14,
        "max_num_tiles": 4}})",
       0,
       mllama,
       {{"vocab_size", 1},
        {"hidden_size", 64},
        {"num_hidden_layers", 1},
        {"num_key_value_heads", 8},
        {"intermediate_size", 1}}},
      {"BGE-large",
       R"({"model_type": "bert", "architectures": ["BertModel"],
        "hidden_act": "gelu", "hidden_size": 1024, "intermediate_size": 4096,
        "max_position_embeddings": 512, "num_attention_heads": 16, "num_hidden_layers": 24,
        "type_vocab_size": 2, "vocab_size": 30522})",
       335'141'888,
       bert,
       {{"vocab_size", 1},
        {"hidden_size", 16},
        {"num_hidden_layers", 1},
        {"intermediate_size", 1},
        {"max_position_embeddings", 1},
        {"type_vocab_size", 1}}},
      {"BGE-M3",
       R"({"model_type": "xlm-roberta", "architectures": ["XLMRobertaModel"],
        "hidden_act": "gelu", "hidden_size": 1024, "intermediate_size": 4096,
        "max_position_embeddings": 8194, "num_attention_heads": 16, "num_hidden_layers": 24,
        "type_vocab_size": 1, "vocab_size": 250002})",
       567'754'752,
       bert,
       {{"vocab_size", 1}, {"type_vocab_size", 1}}},
      {"BERT-base, a head of its words",
       R"({"model_type": "bert", "architectures": ["BertLMHeadModel"],
        "hidden_act": "gelu", "hidden_size": 768, "intermediate_size": 3072,
        "max_position_embeddings": 512, "num_attention_heads": 12, "num_hidden_layers": 12,
        "type_vocab_size": 2, "vocab_size": 30522})",
       109'514'298,
       bert_lm,
       {{"vocab_size", 1}, {"hidden_size", 12}}},
      {"ELECTRA-base, its discriminator",
       R"({"model_type": "electra", "architectures": ["ElectraForPreTraining"],
        "embedding_size": 768, "hidden_act": "gelu", "hidden_size": 768, "intermediate_size": 3072,
        "max_position_embeddings": 512, "num_attention_heads": 12, "num_hidden_layers": 12,
        "type_vocab_size": 2, "vocab_size": 30522})",
       0,
       electra,
       {{"vocab_size", 1}, {"num_hidden_layers", 1}}},
      {"ModernBERT-base",
       R"({"model_type": "modernbert", "architectures":
        ["ModernBertForMaskedLM"], "global_attn_every_n_layers": 3, "hidden_size": 768,
        "intermediate_size": 1152, "local_attention": 128, "num_attention_heads": 12,
        "num_hidden_layers": 22, "vocab_size": 50368})",
       149'655'232,
       modernbert,
       {{"vocab_size", 1},
        {"hidden_size", 24},
        {"num_hidden_layers", 1},
        {"intermediate_size", 1}}},
      {"nomic-embed-text-v1.5",
       R"({"model_type": "nomic_bert", "architectures":
        ["NomicBertModel"], "activation_function": "swiglu", "n_embd": 768, "n_head": 12,
        "n_inner": 3072, "n_layer": 12, "n_positions": 8192, "prenorm": false,
        "qkv_proj_bias": false, "rotary_emb_fraction": 1.0, "type_vocab_size": 2,
        "vocab_size": 30528})",
       136'731'648,
       nomic,
       {{"vocab_size", 1}, {"n_embd", 24}, {"n_layer", 1}, {"n_inner", 1}, {"type_vocab_size", 1}}},
      {"LLaDA-8B",
       R"({"model_type": "llada", "architectures": ["LLaDAModelLM"],
        "activation_type": "silu", "alibi": false, "block_type": "llama", "d_model": 4096,
        "embedding_size": 126464, "include_bias": false, "include_qkv_bias": false,
        "max_sequence_length": 4096, "mlp_hidden_size": 12288, "n_heads": 32, "n_kv_heads": 32,
        "n_layers": 32, "rope": true, "vocab_size": 126464, "weight_tying": false})",
       8'015'581'184,
       llada,
       {{"embedding_size", 1},
        {"d_model", 64},
        {"n_layers", 1},
        {"n_kv_heads", -16},
        {"mlp_hidden_size", 1}}},
      {"DeepSeek-VL2-tiny, its text side",
       R"({"model_type": "deepseek_v2",
        "first_k_dense_replace": 1, "hidden_size": 1280, "intermediate_size": 6848,
        "kv_lora_rank": null, "moe_intermediate_size": 896, "n_routed_experts": 64,
        "n_shared_experts": 2, "num_attention_heads": 10, "num_experts_per_tok": 6,
        "num_hidden_layers": 12, "num_key_value_heads": 10, "q_lora_rank": null,
        "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "use_mla": false, "v_head_dim": 0,
        "tie_word_embeddings": false, "vocab_size": 129280})",
       2'934'734'080,
       plain_deepseek,
       {{"vocab_size", 1},
        {"hidden_size", 20},
        {"num_hidden_layers", 1},
        {"intermediate_size", 1},
        {"moe_intermediate_size", 1},
        {"n_routed_experts", 1},
        {"n_shared_experts", 1},
        {"first_k_dense_replace", 1}}},
      {"BLOOM-560m",
       R"({"model_type": "bloom", "n_embed": 1024, "n_layer": 24, "n_head": 16,
        "vocab_size": 250880})",
       559'214'592,
       bloom,
       {{"vocab_size", 1}, {"n_embed", 16}, {"n_layer", 1}}},
      {"StarCoder",
       R"({"model_type": "gpt_bigcode", "multi_query": true, "n_embd": 6144,
        "n_head": 48, "n_inner": 24576, "n_layer": 40, "n_positions": 8192, "vocab_size": 49152})",
       15'517'456'384,
       gpt_bigcode,
       {{"vocab_size", 1}, {"n_embd", 48}, {"n_layer", 1}, {"n_inner", 1}, {"n_positions", 1}}},
      {"T5-small",
       R"({"model_type": "t5", "is_encoder_decoder": true, "d_model": 512, "d_kv": 64,
        "d_ff": 2048, "num_heads": 8, "num_layers": 6, "num_decoder_layers": 6,
        "relative_attention_num_buckets": 32, "feed_forward_proj": "relu", "vocab_size": 32128})",
       60'506'624,
       t5,
       {{"vocab_size", 1},
        {"d_model", 2},
        {"d_kv", 1},
        {"d_ff", 1},
        {"num_heads", 1},
        {"relative_attention_num_buckets", 1}}},
      {"Whisper-large-v3",
       R"({"model_type": "whisper", "is_encoder_decoder": true,
        "activation_function": "gelu", "d_model": 1280, "decoder_attention_heads": 20,
        "decoder_ffn_dim": 5120, "decoder_layers": 32, "encoder_attention_heads": 20,
        "encoder_ffn_dim": 5120, "encoder_layers": 32, "max_source_positions": 1500,
        "max_target_positions": 448, "num_hidden_layers": 32, "num_mel_bins": 128,
        "vocab_size": 51866})",
       1'543'490'560,
       whisper,
       {{"vocab_size", 1},
        {"d_model", 20},
        {"encoder_layers", 1},
        {"decoder_layers", 1},
        {"encoder_ffn_dim", 1},
        {"decoder_ffn_dim", 1},
        {"num_mel_bins", 1},
        {"max_source_positions", 1},
        {"max_target_positions", 1}}},
      {"BART-large",
       R"({"model_type": "bart", "is_encoder_decoder": true,
        "activation_function": "gelu", "d_model": 1024, "decoder_attention_heads": 16,
        "decoder_ffn_dim": 4096, "decoder_layers": 12, "encoder_attention_heads": 16,
        "encoder_ffn_dim": 4096, "encoder_layers": 12, "max_position_embeddings": 1024,
        "num_hidden_layers": 12, "vocab_size": 50265})",
       406'291'456,
       bart,
       {{"vocab_size", 1},
        {"d_model", 16},
        {"encoder_layers", 1},
        {"decoder_layers", 1},
        {"encoder_ffn_dim", 1},
        {"decoder_ffn_dim", 1},
        {"max_position_embeddings", 1}}},
      {"OLMo-7B",
       R"({"model_type": "olmo", "hidden_size": 4096, "intermediate_size": 11008,
        "num_attention_heads": 32, "num_hidden_layers": 32, "tie_word_embeddings": false,
        "vocab_size": 50304})",
       6'888'095'744,
       olmo,
       {{"vocab_size", 1},
        {"hidden_size", 64},
        {"num_hidden_layers", 1},
        {"intermediate_size", 1}}},
  };
}

TEST(FamilyCounts, are_the_published_ones) {
  for (const Row& row : rows()) {
    if (row.published == 0) continue;
    EXPECT_EQ(parameters_of(parse_json(row.config, row.name)), row.published) << row.name;
  }
}

// Lists per layer grow with their layers.
Json stepped(const char* text, const Step& step) {
  Json config = parse_json(text, "row");
  Json& at = config.contains("text_config") ? config["text_config"] : config;
  at[step.field] = at.at(step.field).get<std::int64_t>() + step.by;
  return config;
}

TEST(FamilyCounts, follow_the_shapes_of_their_matrices_at_every_size) {
  for (const Row& row : rows()) {
    const Json whole = parse_json(row.config, row.name);
    EXPECT_EQ(parameters_of(whole), row.formula(Sizes(whole))) << row.name;
    for (const Step& step : row.steps) {
      const Json config = stepped(row.config, step);
      const std::int64_t parameters = parameters_of(config);
      EXPECT_EQ(parameters, row.formula(Sizes(config))) << row.name << ": " << step.field;
      EXPECT_NE(parameters, parameters_of(whole)) << row.name << ": " << step.field;
    }
  }
}

// A step holds what it does not execute: both sides are counted in either phase. A source's keys
// and values are made where it is read, and what a decode step multiplies are the decoder's
// weights.
TEST(FamilyCounts, an_encoder_decoder_holds_the_side_that_a_step_does_not_execute) {
  for (const Row& row : rows()) {
    const ModelSpec spec = read_model(row.config, row.name);
    if (!spec.encoder) continue;
    const OperatorGraph step = graph_of(spec, decode(1, 16));
    const OperatorGraph pass = graph_of(spec, prefill(1, 16, 16));
    EXPECT_EQ(pass.totals.parameters, step.totals.parameters) << row.name;
    EXPECT_TRUE(has_operator(pass, "cross_kv_proj")) << row.name;
    EXPECT_FALSE(has_operator(step, "cross_kv_proj")) << row.name;
    EXPECT_TRUE(has_operator(step, "cross_attention")) << row.name;
    EXPECT_FALSE(has_operator(pass, "cross_attention")) << row.name;
    const auto split = build_graph(spec, decode(2, 16, {.tp = 2}));
    EXPECT_TRUE(split) << text_of(split.why());
  }
}

// Keys and values of layers that read another layer's are kept once; a convolution keeps its last
// tokens; attention to an image keeps that image.
TEST(FamilyCounts, caches_hold_what_later_steps_read) {
  const auto kv = [](const char* name) {
    for (const Row& row : rows()) {
      if (std::string_view(row.name) != name) continue;
      const OperatorGraph graph = graph_of(read_model(row.config, name), decode(1, 64));
      std::int64_t bytes = 0;
      for (const std::int32_t type : graph.layers) {
        for (const LayerCache& cache : graph.layer_types[as_size(type)].caches) {
          bytes += cache.bytes(64, &Extent::whole);
        }
      }
      return bytes;
    }
    throw std::runtime_error(name);
  };
  EXPECT_EQ(kv("LFM2-350M"), 6 * 64 * 2 * 8 * 64 * 2 + 10 * 2 * 1024 * 2);
  EXPECT_EQ(kv("a small Gemma 4"), 8 * 2 * 4 * 8 * 2 + 64 * 2 * 2 * 16 * 2);
  EXPECT_EQ(kv("Llama-3.2-11B-Vision, its text side"),
            32LL * 64 * 2 * 8 * 128 * 2 + 8LL * 4 * 1601 * 2 * 8 * 128 * 2);
  EXPECT_EQ(kv("a small MiniMax-M3"), 3 * 64 * 2 * 2 * 8 * 2 + 2 * 64 * 4 * 2);
}

}  // namespace
}  // namespace halmark::family_counts
