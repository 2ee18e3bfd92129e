// Which layers of shipped models are windowed, chunked, linear, sparse: by hand from their papers
// and configurations.
// Configurations of mixtures of experts: what is read, and what is refused instead of guessed.

#include <nlohmann/json.hpp>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "fixtures.hpp"

namespace halmark {
namespace {

using namespace model_test;

std::vector<std::int64_t> layers_where(const ModelSpec& spec, bool (*is_so)(const LayerMixer&)) {
  std::vector<std::int64_t> out;
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    if (is_so(mixer_of(spec, layer))) out.push_back(layer);
  }
  return out;
}
bool sees_everything(const LayerMixer& mixer) {
  return mixer.kind == Mixer::attention && mixer.window == 0 && mixer.chunk == 0;
}
bool attends(const LayerMixer& mixer) { return mixer.kind == Mixer::attention; }
bool is_rotated(const LayerMixer& mixer) { return mixer.has_rotary; }

// count layers, the first at `first`, every `step`th.
std::vector<std::int64_t> every(std::int64_t step, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < count; ++i) out.push_back(first + i * step);
  return out;
}

std::vector<std::string> layer_type_names(const OperatorGraph& graph, std::size_t layers) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < layers; ++i) {
    out.push_back(graph.layer_types[as_size(graph.layers[i])].name);
  }
  return out;
}

TEST(LayerPattern, gemma_2_alternates_window_and_full) {
  const ModelSpec spec = shipped("gemma-2-2b");
  EXPECT_EQ(layers_where(spec, sees_everything), every(2, 1, 13));
  EXPECT_EQ(mixer_of(spec, 0).window, 4096);
  EXPECT_TRUE(spec.post_norms);
  EXPECT_FALSE(spec.qk_norm);
}

TEST(LayerPattern, gemma_3_has_five_windows_then_a_full_layer) {
  EXPECT_EQ(layers_where(shipped("gemma-3-1b"), sees_everything), every(6, 5, 4));
  EXPECT_EQ(layers_where(shipped("gemma-3-27b"), sees_everything), every(6, 5, 10));
  EXPECT_EQ(mixer_of(shipped("gemma-3-1b"), 0).window, 512);
  EXPECT_TRUE(shipped("gemma-3-4b").qk_norm);
}

TEST(LayerPattern, gpt_oss_starts_with_a_window) {
  const ModelSpec spec = shipped("gpt-oss-20b");
  EXPECT_EQ(layers_where(spec, sees_everything), every(2, 1, 12));
  EXPECT_EQ(mixer_of(spec, 0).window, 128);
  EXPECT_TRUE(spec.has_sinks);
}

TEST(LayerPattern, llama_4_chunks_and_rotates_all_but_every_fourth_layer) {
  const ModelSpec scout = shipped("llama-4-scout-17b-16e");
  EXPECT_EQ(layers_where(scout, sees_everything), every(4, 3, 12));
  EXPECT_EQ(layers_where(scout, is_rotated).size(), 36u);
  EXPECT_EQ(mixer_of(scout, 0).chunk, 8192);
  EXPECT_THAT(scout.is_sparse, Each(true));

  const ModelSpec maverick = shipped("llama-4-maverick-17b-128e");
  for (std::size_t i = 0; i < maverick.is_sparse.size(); ++i) {
    EXPECT_EQ(maverick.is_sparse[i], i % 2 == 1) << i;
  }
  EXPECT_THAT(layer_type_names(graph_of(maverick, decode(1, 1)), 4),
              ElementsAre("decoder_chunk", "decoder_moe_chunk", "decoder_chunk", "decoder_moe"));
}

TEST(LayerPattern, mimo_v2_has_kv_heads_of_their_own_under_the_window) {
  const ModelSpec spec = shipped("mimo-v2-flash");
  const std::vector<std::int64_t> full = {0, 5, 11, 17, 23, 29, 35, 41, 47};
  EXPECT_EQ(layers_where(spec, sees_everything), full);
  EXPECT_EQ(mixer_of(spec, 0).kv_heads, 4);
  EXPECT_EQ(mixer_of(spec, 1).kv_heads, 8);
  EXPECT_EQ(mixer_of(spec, 1).window, 128);
  EXPECT_EQ(mixer_of(spec, 1).head_dim, 192);
  EXPECT_EQ(mixer_of(spec, 1).value_dim, 128);
  EXPECT_EQ(std::ranges::count(spec.is_sparse, false), 1);
  EXPECT_FALSE(spec.is_sparse[0]);
}

TEST(LayerPattern, a_searched_llama_has_attention_in_49_of_80_blocks) {
  const ModelSpec spec = shipped("nemotron-super-49b");
  EXPECT_EQ(layers_where(spec, attends).size(), 49u);
  EXPECT_EQ(mixer_of(spec, 6).kind, Mixer::none);
  EXPECT_EQ(mixer_of(spec, 0).kv_heads, 8);
  EXPECT_EQ(spec.ffn_widths[0], 14'336);  // 2 x 2.625 x 8192 / 3
  EXPECT_EQ(spec.ffn_widths[1], 28'672);
  EXPECT_EQ(spec.ffn_widths[42], 7'168);
  EXPECT_EQ(spec.ffn_widths[54], 5'632);  // 5461.3, up to a multiple of 256
}

TEST(LayerPattern, qwen3_next_attends_in_every_fourth_layer) {
  const ModelSpec spec = shipped("qwen3-next-80b-a3b");
  EXPECT_EQ(layers_where(spec, attends), every(4, 3, 12));
  EXPECT_TRUE(spec.output_gate);
  EXPECT_TRUE(spec.moe->shared_gate);
  EXPECT_EQ(layers_where(shipped("qwen3.5-27b"), attends), every(4, 3, 16));
  EXPECT_FALSE(shipped("qwen3.5-27b").moe);
  EXPECT_THAT(layer_type_names(graph_of(spec, decode(1, 1)), 4),
              ElementsAre("decoder_moe_delta_rule", "decoder_moe_delta_rule",
                          "decoder_moe_delta_rule", "decoder_moe"));
}

struct Letters {
  const char* id;
  std::ptrdiff_t mamba, attention, mlp, experts;
};

TEST(LayerPattern, nemotron_h_follows_its_letters) {
  for (const Letters& expected :
       {Letters{"nemotron-h-56b", 54, 10, 54, 0}, Letters{"nemotron-3-nano-30b-a3b", 23, 6, 0, 23},
        Letters{"nemotron-3-super-120b-a12b", 40, 8, 0, 40},
        Letters{"nemotron-3-ultra-550b-a55b", 48, 12, 0, 48}}) {
    const OperatorGraph graph = graph_of(expected.id, decode(1, 1));
    const auto names = layer_type_names(graph, graph.layers.size());
    EXPECT_EQ(std::ranges::count(names, "mamba"), expected.mamba) << expected.id;
    EXPECT_EQ(std::ranges::count(names, "attention"), expected.attention) << expected.id;
    EXPECT_EQ(std::ranges::count(names, "mlp"), expected.mlp) << expected.id;
    EXPECT_EQ(std::ranges::count(names, "moe"), expected.experts) << expected.id;
  }
  const std::vector<std::int64_t> attention = {5, 12, 19, 26, 33, 42};
  EXPECT_EQ(layers_where(shipped("nemotron-3-nano"), attends), attention);
}

// A layer of one part has one norm and one residual.
TEST(LayerPattern, a_layer_of_nemotron_h_is_one_part) {
  const OperatorGraph graph = graph_of("nemotron-h-56b", decode(1, 1));
  for (const LayerType& type : graph.layer_types) {
    if (type.name != "mamba" && type.name != "attention" && type.name != "mlp") continue;
    std::ptrdiff_t residuals = 0;
    for (const auto index : type.operators) {
      residuals += graph.operators[as_size(index)].name.ends_with("residual_add");
    }
    EXPECT_EQ(residuals, 1) << type.name;
  }
}

Json base() { return parse_json(tiny_moe_json, "tiny_moe.json"); }
ModelSpec read(const Json& config) { return read_model(config.dump(), "config.json"); }

std::string refusal_of(const Json& config) {
  try {
    read(config);
  } catch (const Error& error) {
    return error.line();
  }
  return {};
}

TEST(MoeSpec, granite_routes_by_softmax_over_the_chosen) {
  const ModelSpec spec = shipped("granite-3.1-1b-a400m");
  ASSERT_TRUE(spec.moe);
  EXPECT_EQ(spec.moe->experts, 32);
  EXPECT_EQ(spec.moe->top_k, 8);
  EXPECT_EQ(spec.moe->width, 512);
  EXPECT_EQ(spec.moe->shared_width, 0);
  EXPECT_TRUE(spec.moe->renormalize);
  EXPECT_EQ(spec.intermediate, 0);
  EXPECT_THAT(spec.is_sparse, Each(true));
  EXPECT_TRUE(spec.tied);
}

TEST(MoeSpec, glm_has_dense_layers_first_and_shared_experts) {
  const ModelSpec spec = shipped("glm-4.5");
  EXPECT_EQ(spec.intermediate, 12288);
  EXPECT_FALSE(spec.is_sparse[2]);
  EXPECT_TRUE(spec.is_sparse[3]);
  EXPECT_EQ(spec.moe->shared_width, 1536);
  EXPECT_EQ(spec.moe->scoring, RouterScoring::sigmoid);
  EXPECT_TRUE(spec.qk_norm);
  EXPECT_FALSE(shipped("glm-4.5-air").qk_norm);
}

TEST(MoeSpec, qwen2_moe_gates_its_shared_expert) {
  Json config = base();
  config["model_type"] = "qwen2_moe";
  config["shared_expert_intermediate_size"] = 24;
  const ModelSpec spec = read(config);
  EXPECT_EQ(spec.moe->shared_width, 24);
  EXPECT_TRUE(spec.moe->shared_gate);
  EXPECT_TRUE(spec.qkv_bias);
  config.erase("shared_expert_intermediate_size");
  EXPECT_EQ(read(config).moe->shared_width, 5632);  // of its class
}

TEST(MoeSpec, layers_without_experts_follow_from_the_step_and_the_list) {
  Json config = base();
  config["decoder_sparse_step"] = 2;
  config["mlp_only_layers"] = {3};
  says(refusal_of(config), "intermediate_size");
  config["intermediate_size"] = 32;
  const ModelSpec spec = read(config);
  EXPECT_THAT(spec.is_sparse, ElementsAre(false, true, false, false));
  EXPECT_EQ(spec.intermediate, 32);
}

TEST(MoeSpec, what_a_step_would_pay_for_is_refused_and_never_guessed) {
  for (const auto& [field, value] :
       std::vector<std::pair<std::string, Json>>{{"first_k_dense_replace", 1},
                                                 {"n_shared_experts", 1},
                                                 {"shared_intermediate_size", 64},
                                                 {"moe_latent_size", 4},
                                                 {"moe_layer_freq", 2},
                                                 {"kv_lora_rank", 512},
                                                 {"attn_output_gate", true}}) {
    Json config = base();
    config[field] = value;
    says(refusal_of(config), field);
    // The values that mean nothing are not in the way.
    config[field] = value.is_boolean() ? Json(false) : Json(field == "moe_layer_freq" ? 1 : 0);
    EXPECT_EQ(refusal_of(config), "") << field;
  }
  Json config = base();
  config["layer_types"] = {"full_attention", "linear_attention", "full_attention",
                           "full_attention"};
  says(refusal_of(config), "linear_attention");
}

TEST(MoeSpec, more_experts_per_token_than_experts_is_refused_with_both) {
  Json config = base();
  config["num_experts_per_tok"] = 9;
  EXPECT_THAT(refusal_of(config), AllOf(HasSubstr("9"), HasSubstr("8")));
}

TEST(MoeSpec, a_shared_granite_is_the_granite_with_a_dense_network_beside_it) {
  Json config = parse_json(tiny_moe_json, "x");
  config["model_type"] = "granitemoeshared";
  config["num_local_experts"] = 8;
  config["intermediate_size"] = 16;
  config["shared_intermediate_size"] = 64;
  EXPECT_EQ(read(config).moe->shared_width, 64);
  config["model_type"] = "granitemoe";
  says(refusal_of(config), "shared_intermediate_size");
}

}  // namespace
}  // namespace halmark
