// Conventions: the published formulas come out of the switches, and different quantities are never
// taken for one another.
#include "model/utilisation/convention.hpp"

#include "fixtures.hpp"
#include "model/utilisation/convention_graph.hpp"
#include "model/utilisation/utilisation.hpp"

namespace halmark::model_test {
namespace {

template <class Call>
std::string line_of(Call call) {
  return test::error_of(call).line();
}

// Llama-3 8B.
constexpr DecoderFields llama{.layers = 32,
                              .hidden = 4096,
                              .heads = 32,
                              .vocab = 128256,
                              .kv_heads = 8,
                              .ffn = 14336,
                              .ffn_matrices = 3};

double per_token(const DecoderFields& fields, double sequence, const Convention& convention,
                 Recompute recompute = Recompute::none) {
  return convention_flops(flop_shape(fields), {sequence}, convention, recompute) / sequence;
}

TEST(Convention, nemo_and_megatron_bridge_differ_by_half_of_the_attention) {
  // 3 [L (2Hnd + 4Hkd + 2ndH + 6Hf + 4ndS) + 2HV], with 4ndS or 2ndS.
  const double weights = 2.0 * 4096 * 4096 * 2 + 4.0 * 4096 * 1024 + 6.0 * 4096 * 14336;
  const double head = 2.0 * 4096 * 128256;
  const auto expected = [&](double per_key) {
    return 3 * (32 * (weights + per_key * 4096 * 8192) + head);
  };
  EXPECT_EQ(per_token(llama, 8192, convention_named("nemo-24")), expected(4));
  EXPECT_EQ(per_token(llama, 8192, convention_named("megatron-bridge")), expected(2));
  // The 12.5 % that changed under the same vendor's name: 697 against 619.5 TFLOP/s.
  EXPECT_NEAR(expected(4) / expected(2), 697.0 / 619.5, 2e-4);
}

TEST(Convention, palm_and_llm_foundry_count_six_flops_a_parameter_and_full_attention) {
  DecoderFields palm{.layers = 118, .hidden = 18432, .heads = 48, .vocab = 256000};
  palm.head_dim = 256;
  palm.parameters = 540.35e9;
  const double expected = 6 * 540.35e9 + 12.0 * 118 * 48 * 256 * 2048;
  EXPECT_DOUBLE_EQ(per_token(palm, 2048, convention_named("palm")), expected);
  EXPECT_DOUBLE_EQ(per_token(palm, 2048, convention_named("llm-foundry")), expected);
  EXPECT_DOUBLE_EQ(per_token(palm, 2048, convention_named("gpt-3")), 6 * 540.35e9);
}

TEST(Convention, megatron_and_korthikanti_are_their_papers_closed_forms) {
  const DecoderFields gpt{.layers = 96, .hidden = 12288, .heads = 96, .vocab = 51200};
  const double S = 2048, L = 96, H = 12288, V = 51200;
  const double unit = S * L * H * H;
  const auto total = [&](const char* name, Recompute r) {
    return S * per_token(gpt, S, convention_named(name), r);
  };
  EXPECT_NEAR(total("korthikanti", Recompute::selective) /
                  (72 * unit * (1 + S / (6 * H) + V / (12 * H * L))),
              1, 1e-12);
  EXPECT_NEAR(total("korthikanti-hfu", Recompute::selective) /
                  (72 * unit * (1 + S / (3 * H) + V / (12 * H * L))),
              1, 1e-12);
  EXPECT_NEAR(
      total("megatron", Recompute::full) / (96 * unit * (1 + S / (6 * H) + V / (16 * L * H))), 1,
      1e-12);
}

TEST(Convention, lora_gives_frozen_weights_no_weight_gradient) {
  Convention c = convention_named("megatron-bridge");
  Convention none = c;
  none.attention = AttentionRule::none;
  const double weights = per_token(llama, 4096, none) / 3;
  const double attention = per_token(llama, 4096, c) - 3 * weights;
  c.forward_backward = PassRule::lora;
  EXPECT_DOUBLE_EQ(per_token(llama, 4096, c), 2 * weights + attention);
}

// 2 of 8 weights gradients less, and pairs of rank r beside every product if they count.
TEST(Convention, adapters_count_forward_and_both_gradients_or_not) {
  FlopShape shape{.matmul_weights = 1000, .adapter_weights = 10};
  Convention c = convention_named("megatron-bridge-lora");
  c.documents = 0;
  EXPECT_EQ(convention_flops(shape, {7}, c), 2 * 2 * 1000.0 * 7);
  set_switch(c, "adapters=in");
  EXPECT_EQ(convention_flops(shape, {7}, c), (2 * 2 * 1000.0 + 3 * 2 * 10) * 7);
  set_switch(c, "forward_backward=3x");
  EXPECT_EQ(convention_flops(shape, {7}, c), 3 * 2 * 1000.0 * 7) << "every weight is trained";
}

// Documents of 2 and 6 tokens: 4 + 36 pairs over 8 tokens are 5 a token.
TEST(Convention, packed_documents_see_themselves_alone) {
  FlopShape shape;
  shape.attention.push_back({.layers = 1, .width = 0.5});
  Convention c = model_convention(false, false);
  set_switch(c, "documents=5");
  const auto pairs = [&](const char* rule) {
    set_switch(c, std::string("attention=") + rule);
    return convention_flops(shape, {8}, c);
  };
  const std::pair<const char*, double> rules[] = {
      {"full", 4 + 36}, {"causal", 3 + 21}, {"window", 3 + 21}, {"half", 2 + 18}, {"none", 0}};
  for (const auto& [rule, expected] : rules) EXPECT_EQ(pairs(rule), expected) << rule;
  shape.attention.front().window = 3;
  set_switch(c, "attention=window");
  says(line_of([&] { convention_flops(shape, {8}, c); }), "window");
  says(line_of([&] { convention_flops(shape, {4}, c); }), "shorter than one");
  says(line_of([&] { set_switch(c, "documents=0.5"); }), "at least 1");
  says(line_of([&] { set_switch(c, "documents=nan"); }), "documents");
}

// GPT-OSS of the releases until 26.04 (2 of 3 matrices, no windows) and after.
TEST(Convention, gates_other_than_silu_are_left_out_by_name) {
  const OperatorGraph g = graph_of("gpt-oss-120b", training(1, 4096));
  const double experts = 36 * 4 * 2880.0 * 2880;
  const double products = 36 * 2 * 2880.0 * (4096 + 512) + 2880.0 * 201088;
  const double keys = 36 * 2 * 4096 * 2048.0;
  EXPECT_EQ(step_flops(g, convention_named("megatron-bridge-26.04"), TrainingPlan{}),
            6 * 4096.0 * (products + 2 * experts + keys));
  Convention c = convention_named("megatron-bridge-26.04");
  set_switch(c, "gate=in");
  EXPECT_EQ(step_flops(g, c, TrainingPlan{}), 6 * 4096.0 * (products + 3 * experts + keys));
}

TEST(Convention, masks_count_their_pairs) {
  const auto pairs = [](AttentionRule rule, SequenceLength s, std::int64_t window) {
    FlopShape shape;
    shape.attention.push_back({.layers = 1, .width = 0.5, .window = window});
    Convention c = model_convention(false, true);
    c.attention = rule;
    return convention_flops(shape, s, c);
  };
  using enum AttentionRule;
  for (const auto& [rule, window, expected] : {std::tuple{full, 0, 150},
                                               {causal, 4, 50 + 55},
                                               {causal_half, 0, 50 + 50},
                                               {half, 4, 50 + 50},
                                               {none, 0, 0}}) {
    EXPECT_EQ(pairs(rule, {10, 5}, window), expected);
  }
  for (const std::int64_t window : {1, 4, 7, 12, 15, 40}) {
    double expected = 0;
    for (std::int64_t p = 5; p < 15; ++p) expected += static_cast<double>(std::min(p + 1, window));
    EXPECT_EQ(pairs(AttentionRule::window, {10, 5}, window), expected) << window;
  }
}

TEST(Convention, the_line_is_machine_readable_and_names_every_switch) {
  const std::string line = convention_named("palm").line();
  EXPECT_EQ(line,
            "name=palm flops=p6 embedding=in lm_head=all_positions attention=full documents=whole "
            "router=in gate=in state_space=model mtp=in softmax=out recompute=out replication=out "
            "forward_backward=3x adapters=out peak=per_operator");
}

TEST(Convention, switches_are_set_by_name_and_refused_with_what_is_known) {
  Convention c = convention_named("megatron-bridge");
  set_switch(c, "attention=full");
  set_switch(c, "peak=bf16");
  EXPECT_EQ(c.attention, AttentionRule::full);
  EXPECT_EQ(c.name, "megatron-bridge+attention=full+peak=bf16");
  EXPECT_EQ(switches(convention_named("palm")), switches(convention_named("llm-foundry")));
  says(line_of([&] { set_switch(c, "attention=ful"); }), "'full'");
  says(line_of([&] { set_switch(c, "atention=full"); }), "'attention'");
  says(line_of([&] { set_switch(c, "full"); }), "switch=value");
  says(line_of([&] { set_switch(c, "peak=bf17"); }), "bf17");
  says(line_of([&] { convention_named("plam"); }), "'palm'");
}

TEST(Convention, parameters_must_be_known_where_they_count) {
  says(line_of([] { per_token(llama, 4096, convention_named("palm")); }), "parameter count");
}

// What the graph counts by itself and what the model's own convention says are one figure.
TEST(Convention, a_graph_and_its_own_convention_agree_to_the_last_flop) {
  for (const char* id : {"qwen3-0.6b", "llama-3.1-8b", "mistral-7b-v0.1", "qwen3-30b-a3b"}) {
    const ModelSpec spec = shipped(id);
    const bool has_windows = spec.windows.front() > 0;
    for (const Configuration& d : {decode(3, 700), prefill(2, 300, 812)}) {
      const OperatorGraph g = graph_of(spec, d);
      EXPECT_EQ(step_flops(g, model_convention(false, has_windows), std::nullopt),
                g.totals.matmul_flops)
          << id;
    }
  }
}

TEST(Convention, executed_counts_what_every_rank_does) {
  const OperatorGraph g = graph_of("qwen3-0.6b", decode(4, 512, {.tp = 16}));
  // 8 KV heads on 16 ranks: every head is computed twice.
  EXPECT_EQ(step_flops(g, convention_named("executed"), std::nullopt),
            16 * g.totals.matmul_flops_per_rank);
  EXPECT_GT(step_flops(g, convention_named("executed"), std::nullopt), g.totals.matmul_flops);
}

}  // namespace
}  // namespace halmark::model_test
