// Parameters of the families that the modules of transformers do not count here, against published
// counts and against a formula of their matrices' shapes written by hand: both at the published
// sizes and with every size one step further, so that no count comes out of a table.

#include <map>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "families/family_formulas.hpp"
#include "fixtures.hpp"
#include "tests/checkout.hpp"

namespace halmark::family_counts {
namespace {

using namespace model_test;

std::int64_t parameters_of(const Json& config) {
  const ModelSpec spec = read_model(config.dump(), "config.json");
  const Configuration load = spec.is_causal ? decode(1, 16) : prefill(1, 16, 16);
  return graph_of(spec, load).totals.parameters;
}

using Step = std::pair<std::string, std::int64_t>;  // a field, and by how much
struct Row {
  std::string name;
  Json config;
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

const std::map<std::string, Formula> newer_formulas = {{"lfm2", lfm2},
                                                       {"lfm2_moe", lfm2_moe},
                                                       {"chatglm", chatglm},
                                                       {"glm4", glm4},
                                                       {"apertus", apertus},
                                                       {"stablelm", stablelm},
                                                       {"plain_llama", plain_llama},
                                                       {"internlm", internlm},
                                                       {"qwen", qwen},
                                                       {"phi3small", phi3small},
                                                       {"bailing", bailing},
                                                       {"granite", granite},
                                                       {"falcon_h1", falcon_h1},
                                                       {"bitnet", bitnet},
                                                       {"gemma4", gemma4},
                                                       {"gemma3n", gemma3n},
                                                       {"minimax_m3", minimax_m3},
                                                       {"step3p7", step3p7},
                                                       {"mllama", mllama},
                                                       {"bert", bert},
                                                       {"bert_lm", bert_lm},
                                                       {"electra", electra},
                                                       {"modernbert", modernbert},
                                                       {"nomic", nomic},
                                                       {"llada", llada},
                                                       {"plain_deepseek", plain_deepseek},
                                                       {"bloom", bloom},
                                                       {"gpt_bigcode", gpt_bigcode},
                                                       {"t5", t5},
                                                       {"whisper", whisper},
                                                       {"bart", bart},
                                                       {"olmo", olmo}};

Formula formula_of(const std::string& name) {
  const auto it = newer_formulas.find(name);
  return it != newer_formulas.end() ? it->second : earlier_formulas().at(name);
}

// Configurations as their repositories write them, or in sizes of a hand's width where no count is
// published.
const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> out;
    for (const Json& row : read_json_file(test::in_source("/tests/data/family_counts.json"))) {
      out.push_back({row.at("name").get<std::string>(), row.at("config"),
                     row.at("published").get<std::int64_t>(),
                     formula_of(row.at("formula").get<std::string>()),
                     row.at("steps").get<std::vector<Step>>()});
    }
    return out;
  }();
  return all;
}

TEST(FamilyCounts, are_the_published_ones) {
  for (const Row& row : rows()) {
    if (row.published == 0) continue;
    EXPECT_EQ(parameters_of(row.config), row.published) << row.name;
  }
}

// Lists per layer grow with their layers.
Json stepped(Json config, const Step& step) {
  Json& at = config.contains("text_config") ? config["text_config"] : config;
  at[step.first] = at.at(step.first).get<std::int64_t>() + step.second;
  return config;
}

TEST(FamilyCounts, follow_the_shapes_of_their_matrices_at_every_size) {
  for (const Row& row : rows()) {
    const std::int64_t whole = parameters_of(row.config);
    EXPECT_EQ(whole, row.formula(Sizes(row.config))) << row.name;
    for (const Step& step : row.steps) {
      const Json config = stepped(row.config, step);
      const std::int64_t parameters = parameters_of(config);
      EXPECT_EQ(parameters, row.formula(Sizes(config))) << row.name << ": " << step.first;
      EXPECT_NE(parameters, whole) << row.name << ": " << step.first;
    }
  }
}

// A step holds what it does not execute: both sides are counted in either phase. A source's keys
// and values are made where it is read, and what a decode step multiplies are the decoder's
// weights.
TEST(FamilyCounts, an_encoder_decoder_holds_the_side_that_a_step_does_not_execute) {
  for (const Row& row : rows()) {
    const ModelSpec spec = read_model(dump_json(row.config), row.name);
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
      if (row.name != name) continue;
      const OperatorGraph graph = graph_of(read_model(dump_json(row.config), name), decode(1, 64));
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
