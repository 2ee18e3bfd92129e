// Kimi Linear: its weights against the tensors of a checkpoint, its operators by hand, its fields.

#include "core/numeric/cast.hpp"
#include "fixtures.hpp"
#include "model/pricing/memory.hpp"

namespace halmark {
namespace {

using namespace model_test;

ModelSpec kimi() { return shipped("kimi-linear"); }

const Operator& operator_of(const OperatorGraph& graph, std::string_view layer_type,
                            std::string_view name) {
  for (const Operator& op : graph.operators) {
    if (op.layer_type == layer_type && op.name == name) return op;
  }
  throw std::runtime_error("no operator " + std::string(name));
}

// Elements of the 610 tensors of bartowski/moonshotai_Kimi-Linear-48B-A3B-Instruct-GGUF, summed by
// kind: experts 26 x 3 x 603,979,776, output and its norm, embedding, mixers and their norms (two
// groups), dense network with the other norms and the selection biases, shared experts, routers.
// The biases, 26 x 256, choose experts and multiply nothing; they are not counted.
TEST(KimiLinear, has_exactly_the_weights_of_the_checkpoint) {
  const std::int64_t tensors = 47'110'422'528 + 377'489'664 + 377'487'360 + 958'841'088 +
                               35'310'720 + 63'769'856 + 184'025'088 + 15'335'424;
  EXPECT_EQ(graph_of(kimi(), decode(1, 1)).totals.parameters, tensors - 26 * 256);
}

// Per token: KDA q, k, v, out 4 x 2304 x 4096, low ranks 2 x (2304 + 4096) x 128, beta 2304 x 32;
// MLA q 2304 x 6144, row 2304 x 576, expanded 512 x 8192, out 4096 x 2304; experts of 3 x 2304 x
// 1024: 8 routed and one shared; router 2304 x 256; dense 3 x 2304 x 9216; head.
TEST(KimiLinear, has_3_billion_active_weights_by_hand) {
  const std::int64_t kda = 4 * 2304 * 4096 + 2 * (2304 + 4096) * 128 + 2304 * 32;
  const std::int64_t mla = 2304 * 6144 + 2304 * 576 + 512 * 8192 + 4096 * 2304;
  const std::int64_t moe = 9 * 3 * 2304 * 1024 + 2304 * 256;
  const std::int64_t active = 20 * kda + 7 * mla + 26 * moe + 3 * 2304 * 9216 + 163'840L * 2304;
  EXPECT_EQ(graph_of(kimi(), decode(1, 1)).totals.active_parameters, active);
  EXPECT_NEAR(as_double(active), 3.1e9, 0.01e9);
}

TEST(KimiLinear, every_fourth_layer_and_the_last_attend) {
  const OperatorGraph graph = graph_of(kimi(), decode(1, 1));
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const std::string& name = graph.layer_types[as_size(graph.layers[i])].name;
    const bool attends = (i + 1) % 4 == 0 || i == 26;
    EXPECT_EQ(name, i == 0    ? "decoder_delta_rule"
                    : attends ? "decoder_moe"
                              : "decoder_moe_delta_rule");
  }
}

TEST(KimiLinear, operators_of_one_token_by_hand) {
  const OperatorGraph graph = graph_of(kimi(), decode(1, 1, {.tp = 4}));
  const auto flops = [&](std::string_view type, std::string_view name) {
    return operator_of(graph, type, name).whole_work.matmul_flops;
  };
  EXPECT_EQ(flops("decoder_moe_delta_rule", "qkv_proj"), 2.0 * 2304 * 3 * 4096);
  EXPECT_EQ(flops("decoder_moe_delta_rule", "gates_down_proj"), 2.0 * 2304 * 256);
  EXPECT_EQ(flops("decoder_moe_delta_rule", "decay_up_proj"), 2.0 * 128 * 4096);
  EXPECT_EQ(flops("decoder_moe_delta_rule", "delta_rule"), 7.0 * 32 * 128 * 128);
  EXPECT_EQ(flops("decoder_moe", "q_proj"), 2.0 * 2304 * 32 * 192);
  EXPECT_EQ(flops("decoder_moe", "attention_absorbed"), 2.0 * 32 * (576 + 512));
  // The low ranks are whole on every rank; what comes out of them is split.
  const Operator& down = operator_of(graph, "decoder_moe_delta_rule", "gates_down_proj");
  EXPECT_EQ(down.rank_work.matmul_flops, down.whole_work.matmul_flops);
  const Operator& up = operator_of(graph, "decoder_moe_delta_rule", "output_gate_up_proj");
  EXPECT_EQ(4 * up.rank_work.matmul_flops, up.whole_work.matmul_flops);
  EXPECT_FALSE(has_operator(graph, "rope")) << "its attention is not rotated";
}

// 20 states of 32 x 128 x 128 in f32 and the last 3 tokens of 3 x 4096 channels; 7 rows of 576.
TEST(KimiLinear, keeps_states_and_latent_rows) {
  const MemoryUse use = memory_use(graph_of(kimi(), decode(1, 1000)));
  EXPECT_EQ(use.kv_bytes_per_token, 7 * 576 * 2);
  EXPECT_EQ(use.state_bytes_per_sequence, 20 * (32 * 128 * 128 * 4 + 3 * 3 * 4096 * 2));
  EXPECT_EQ(use.largest.kv_bytes, 1000 * use.kv_bytes_per_token + use.state_bytes_per_sequence);
}

constexpr std::string_view tiny_kimi = R"({"model_type": "kimi_linear", "num_hidden_layers": 2,
  "hidden_size": 8, "num_attention_heads": 2, "kv_lora_rank": 4, "qk_nope_head_dim": 2,
  "qk_rope_head_dim": 2, "v_head_dim": 2, "mla_use_nope": NOPE, "intermediate_size": 8,
  "first_k_dense_replace": 1, "num_experts": 4, "num_experts_per_token": 2,
  "moe_intermediate_size": 4, "vocab_size": 32, "tie_word_embeddings": false EXTRA,
  "linear_attn_config": {"kda_layers": KDA, "full_attn_layers": [2], "num_heads": 2,
  "head_dim": 4, "short_conv_kernel_size": 2 MORE}})";

std::string config(std::string_view kda = "[1]", std::string_view extra = "",
                   std::string_view more = "", std::string_view nope = "true") {
  std::string out(tiny_kimi);
  for (const auto& [word, value] : {std::pair{"KDA", kda}, std::pair{"EXTRA", extra},
                                    std::pair{"MORE", more}, std::pair{"NOPE", nope}}) {
    out.replace(out.find(word), std::string_view(word).size(), value);
  }
  return out;
}

std::string refusal(const std::string& json) {
  return test::error_of([&] { read_model(json, "kimi.json"); }).line();
}

TEST(KimiLinear, reads_a_configuration_and_rotates_where_it_says_so) {
  const OperatorGraph still = graph_of(read_model(config(), "kimi.json"), prefill(1, 4, 4));
  EXPECT_FALSE(has_operator(still, "rope"));
  const OperatorGraph rotated =
      graph_of(read_model(config("[1]", "", "", "false"), "kimi.json"), prefill(1, 4, 4));
  EXPECT_TRUE(has_operator(rotated, "rope"));
}

TEST(KimiLinear, refuses_layers_that_are_not_listed_once_and_what_it_does_not_model) {
  says(refusal(config("[]")), "layer 1 0 times");
  says(refusal(config("[1, 2]")), "layer 2 2 times");
  says(refusal(config("[1, 3]")), "layer 3, which is not in 1..2");
  says(refusal(config("null")), "kda_layers' is missing");
}

// A gate of full rank in the place of one of rank 4 (8 x 8 for 8 x 4 + 4 x 8 weights); a gate of
// 8 x 2 heads of 2 on latent attention; experts of width 6 behind 8 x 6 and in front of 6 x 8.
TEST(KimiLinear, kimi_k3_has_gates_and_a_latent_width_and_says_that_no_count_confirms_them) {
  const auto parameters = [](const std::string& text) {
    return graph_of(read_model(text, "c.json"), decode(1, 1)).totals.parameters;
  };
  const std::int64_t plain = parameters(config());
  EXPECT_EQ(parameters(config("[1]", ", \"mla_use_output_gate\": true")), plain + 8 * 4);
  EXPECT_EQ(parameters(config("[1]", ", \"routed_expert_hidden_size\": 6")),
            plain + 2 * 8 * 6 - 4 * 3 * (8 - 6) * 4);
  EXPECT_EQ(parameters(config("[1]", "", ", \"use_full_rank_gate\": true")),
            plain + 8 * 8 - (8 * 4 + 4 * 8));
  const ModelSpec spec =
      read_model(R"({"model_type": "kimi_k3", "text_config": )" +
                     config("[1]", ", \"attn_res_block_size\": 12, \"hidden_act\": \"situ\"") + "}",
                 "k3.json");
  EXPECT_EQ(spec.architecture, "kimi_k3");
  EXPECT_THAT(spec.unconfirmed, Contains(HasSubstr("attn_res_block_size")));
}

}  // namespace
}  // namespace halmark
