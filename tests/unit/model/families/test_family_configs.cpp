// Configurations of the families as their repositories write them, and what is refused in them.

#include "core/json/json.hpp"
#include "fixtures.hpp"

namespace halmark {
namespace {

using namespace model_test;

ModelSpec read(const std::string& text) { return read_model(text, "config.json"); }

std::string refusal_of(const Json& config) {
  const Error error = test::error_of([&] { read_model(config.dump(), "config.json"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error.line();
}
std::int64_t parameters_of(const ModelSpec& spec) {
  return graph_of(spec, decode(1, 1)).totals.parameters;
}

// The names of the published config.json of GPT-2.
TEST(FamilyConfig, gpt2_has_names_of_its_own) {
  const ModelSpec spec = read(R"({"model_type": "gpt2", "n_layer": 12, "n_embd": 768,
      "n_head": 12, "n_positions": 1024, "n_ctx": 1024, "n_inner": null, "vocab_size": 50257,
      "activation_function": "gelu_new"})");
  EXPECT_EQ(spec.layers, 12);
  EXPECT_EQ(spec.intermediate, 3072);
  EXPECT_EQ(spec.learned_positions, 1024);
  EXPECT_TRUE(spec.tied);
  EXPECT_EQ(parameters_of(spec), 124'439'808);
}

TEST(FamilyConfig, opt_keeps_two_positions_more) {
  const ModelSpec spec = read(R"({"model_type": "opt", "num_hidden_layers": 12,
      "hidden_size": 768, "num_attention_heads": 12, "ffn_dim": 3072, "vocab_size": 50272,
      "max_position_embeddings": 2048, "word_embed_proj_dim": 768,
      "do_layer_norm_before": true, "activation_function": "relu"})");
  EXPECT_EQ(parameters_of(spec), 125'239'296);
}

TEST(FamilyConfig, dbrx_nests_its_sizes) {
  const ModelSpec spec = read(R"({"model_type": "dbrx", "n_layers": 40, "d_model": 6144,
      "n_heads": 48, "max_seq_len": 32768, "vocab_size": 100352, "tie_word_embeddings": false,
      "attn_config": {"kv_n_heads": 8, "clip_qkv": 8, "rope_theta": 500000},
      "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}})");
  EXPECT_EQ(spec.kv_heads, 8);
  EXPECT_EQ(parameters_of(spec), 131'596'523'520);
}

// The published file of Gemma 3 4B leaves out what equals the defaults.
TEST(FamilyConfig, gemma_3_files_leave_defaults_out) {
  const ModelSpec spec = read(R"({"model_type": "gemma3", "vision_config": {"hidden_size": 1152},
      "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
      "num_hidden_layers": 34, "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
      "sliding_window": 1024}})");
  EXPECT_EQ(parameters_of(spec), 3'880'263'168);
  EXPECT_THAT(spec.assumed, Contains(HasSubstr("num_attention_heads = 8")));
}

// Objects per block, as released; one block of each kind.
TEST(FamilyConfig, a_searched_llama_lists_objects_per_block) {
  const ModelSpec spec = read(R"({"model_type": "nemotron-nas", "num_hidden_layers": 2,
      "hidden_size": 768, "num_attention_heads": 12, "vocab_size": 64,
      "tie_word_embeddings": false, "intermediate_size": null, "num_key_value_heads": null,
      "block_configs": [
        {"attention": {"n_heads_in_group": 4, "no_op": false, "replace_with_linear": false},
         "ffn": {"ffn_mult": 2.0, "no_op": false, "replace_with_linear": false}},
        {"attention": {"n_heads_in_group": null, "no_op": true, "replace_with_linear": false},
         "ffn": {"ffn_mult": 1.3125, "no_op": false, "replace_with_linear": false}}]})");
  EXPECT_EQ(spec.mixers[0].kv_heads, 3);
  EXPECT_EQ(spec.mixers[1].kind, Mixer::none);
  EXPECT_THAT(spec.ffn_widths, ElementsAre(1024, 768));  // 672 rounds up
}

// The released file of Phi-3.5-MoE states its biases.
TEST(FamilyConfig, phi_moe_has_the_biases_that_its_file_states) {
  Json json = parse_json(R"({"model_type": "phimoe", "num_hidden_layers": 32, "hidden_size": 4096,
      "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 6400,
      "vocab_size": 32064, "num_local_experts": 16, "num_experts_per_tok": 2,
      "attention_bias": true, "lm_head_bias": true, "tie_word_embeddings": false})",
                         "phi");
  // 32 x (6144 + 4096) biases, 65 shifts of 4096, 32064 biases of the head.
  EXPECT_EQ(parameters_of(read(json.dump())), 41'872'527'360 + 32 * 10'240 + 65 * 4'096 + 32'064);
}

Json config_of(const char* id) {
  return read_json_file((model_dir() / (std::string(id) + ".json")).string()).at("config");
}

struct BadField {
  const char* id;
  const char* field;
  const char* value;  // "" removes the field
  const char* said;
};
TEST(FamilyConfig, a_bad_field_is_refused_in_one_line_that_names_it) {
  const BadField rows[] = {
      {"gpt2", "n_embd", "1024", "n_embd"},
      {"gpt2", "activation_function", "\"tanh\"", "tanh"},
      {"gpt2", "add_cross_attention", "true", "add_cross_attention"},
      {"phi-2", "qk_layernorm", "true", "qk_layernorm"},
      {"gemma-3-1b", "layer_types", "[\"full_attention\"]", "26"},
      {"gpt-oss-20b", "experts_per_token", "5", "experts_per_token"},
      {"gpt-oss-20b", "num_local_experts", "2", "num_experts_per_tok"},
      {"llama-4-scout-17b-16e", "no_rope_layers", "[1, 0]", "48"},
      {"minimax-m2", "qk_norm_type", "\"per_row\"", "per_row"},
      {"minimax-m2", "rotary_dim", "256", "rotary_dim"},
      {"mimo-v2-flash", "hybrid_layer_pattern", "", "hybrid_layer_pattern"},
      {"mimo-v2-flash", "hybrid_layer_pattern", "[0, 1]", "48"},
      {"mimo-v2-flash", "swa_num_key_value_heads", "5", "swa_num_key_value_heads"},
      {"mimo-v2-flash", "n_shared_experts", "1", "n_shared_experts"},
      {"nemotron-4-340b", "hidden_act", "\"xielu\"", "xielu"},
      {"llama-3_3-nemotron-super-49b-v1", "block_ffn_mult", "[1.0]", "80"},
      {"llama-3_3-nemotron-super-49b-v1", "block_ffn_mult", "", "block_ffn_mult"},
      {"llama-3_3-nemotron-super-49b-v1", "block_attention_no_op", "", "contradict"},
      {"qwen3-next-80b-a3b", "linear_num_key_heads", "5", "linear_num_key_heads"},
      {"qwen3-next-80b-a3b", "linear_conv_kernel_dim", "0", "linear_conv_kernel_dim"},
      {"qwen3.5-27b", "attn_output_gate", "false", "attn_output_gate"},
      {"qwen3.5-27b", "layer_types", "[\"mamba\"]", "layer_types"},
      {"nemotron-h-56b", "hybrid_override_pattern", "\"MXM\"", "'X'"},
      {"nemotron-h-56b", "hybrid_override_pattern", "\"M-M\"", "118"},
      {"nemotron-h-56b", "hybrid_override_pattern", "", "hybrid_override_pattern"},
      {"nemotron-h-56b", "n_groups", "7", "n_groups"},
      {"nemotron-3-ultra-550b-a55b", "layers_block_type", "[\"gru\"]", "gru"},
      {"nemotron-3-ultra-550b-a55b", "layers_block_type", "[]", "num_hidden_layers"}};
  const char* t5 = R"({"model_type": "t5", "architectures": ["T5EncoderModel"], "d_model": 512,
      "d_kv": 64, "d_ff": 2048, "num_heads": 8, "num_layers": 6, "vocab_size": 32128})";
  says(refusal_of(parse_json(t5, "t5")), "encoder without its decoder");
  for (const BadField& bad : rows) {
    SCOPED_TRACE(bad.field);
    Json config = config_of(bad.id);
    Json& target = config.contains("text_config") ? config["text_config"] : config;
    if (*bad.value == '\0') {
      target.erase(bad.field);
    } else {
      target[bad.field] = parse_json(bad.value, "value");
    }
    const std::string line = refusal_of(config);
    EXPECT_THAT(line, AllOf(HasSubstr("config.json"), HasSubstr(bad.said)));
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

// What the classes of transformers say of fields that a file leaves out.
TEST(FamilyConfig, an_absent_field_has_the_default_of_its_class) {
  const auto without = [](const char* id, const char* field) {
    Json config = config_of(id);
    (config.contains("text_config") ? config["text_config"] : config).erase(field);
    ModelSpec spec = read(config.dump());
    EXPECT_THAT(spec.assumed, Contains(HasSubstr(std::string(field) + " = "))) << id;
    return spec;
  };
  EXPECT_EQ(without("gpt2", "max_position_embeddings").learned_positions, 1024);
  EXPECT_EQ(without("gemma-2-2b", "sliding_window").windows.front(), 4096);
  EXPECT_EQ(without("llama-4-maverick-17b-128e", "intermediate_size_mlp").intermediate, 16384);
  EXPECT_EQ(without("llama-4-scout-17b-16e", "attention_chunk_size").mixers.front().chunk, 8192);
  EXPECT_EQ(without("qwen3-next-80b-a3b", "linear_num_key_heads").delta_rule->key_heads, 16);
  EXPECT_EQ(without("qwen3-0.6b", "head_dim").head_dim, 128);  // hidden / heads is 64
  EXPECT_EQ(without("glm-4.5", "first_k_dense_replace").is_sparse[1], true);
  EXPECT_EQ(without("glm-4.5", "partial_rotary_factor").rotary_dim, 64);
  EXPECT_EQ(without("deepseek-v3", "n_shared_experts").moe->shared_width, 2048);
}

TEST(FamilyConfig, architectures_that_nobody_verified_are_refused_with_the_reason) {
  for (const char* type : {"idefics", "xlstm", "switch_transformers"}) {
    const std::string line =
        refusal_of({{"model_type", type}, {"num_hidden_layers", 2}, {"hidden_size", 8}});
    EXPECT_THAT(line, AllOf(HasSubstr(type), HasSubstr("not modelled"), HasSubstr("known")))
        << type;
  }
}

}  // namespace
}  // namespace halmark
