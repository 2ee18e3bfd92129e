// Operators of one layer of each family, as integers computed by hand from the published sizes.

#include "fixtures.hpp"
#include "model/pricing/memory.hpp"

namespace halmark {
namespace {

using namespace model_test;

const Operator* find_in(const OperatorGraph& graph, std::string_view layer_type,
                        std::string_view name) {
  for (const Operator& op : graph.operators) {
    if (op.layer_type == layer_type && op.name == name) return &op;
  }
  return nullptr;
}

struct Row {
  const char* layer_type;
  const char* name;
  double flops;  // of one layer
};

void expect_rows(const OperatorGraph& graph, std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    const Operator* op = find_in(graph, row.layer_type, row.name);
    ASSERT_NE(op, nullptr) << row.layer_type << " " << row.name;
    const double flops =
        op->whole_work.matmul_flops > 0 ? op->whole_work.matmul_flops : op->whole_work.vector_flops;
    EXPECT_EQ(flops, row.flops) << row.layer_type << " " << row.name;
  }
}

std::vector<std::string> names_of(const OperatorGraph& graph, std::string_view layer_type) {
  std::vector<std::string> out;
  for (const Operator& op : graph.operators) {
    if (op.layer_type == layer_type) out.push_back(op.name);
  }
  return out;
}

// H 768, 12 heads of 64, FFN 3072, V 50257, 1024 learned positions; one token.
TEST(FamilyOperators, gpt2) {
  const OperatorGraph graph = graph_of("gpt2", decode(1, 1));
  expect_rows(graph, {{"decoder", "q_proj", 1'179'648},
                      {"decoder", "kv_proj", 2'359'296},
                      {"decoder", "attention", 3'072},
                      {"decoder", "o_proj", 1'179'648},
                      {"decoder", "up_proj", 4'718'592},
                      {"decoder", "down_proj", 4'718'592},
                      {"head", "lm_head", 77'194'752},
                      {"decoder", "input_norm", 7 * 768},
                      {"decoder", "activation", 8 * 3072}});
  EXPECT_THAT(names_of(graph, "embedding"),
              ElementsAre("embedding", "position_embedding", "position_add"));
  EXPECT_THAT(names_of(graph, "decoder"),
              ElementsAre("input_norm", "q_proj", "kv_proj", "kv_append", "attention", "o_proj",
                          "attention_residual_add", "post_norm", "up_proj", "activation",
                          "down_proj", "ffn_residual_add"));
  EXPECT_EQ(find_in(graph, "embedding", "position_embedding")->parameters, 1024 * 768);
}

TEST(FamilyOperators, every_operator_of_gpt2_and_opt_has_a_reference) {
  for (const char* id : {"gpt2", "opt-125m", "gemma-2-2b", "phi-2", "nemotron-4-340b"}) {
    for (const Operator& op : graph_of(id, decode(1, 64)).operators) {
      EXPECT_TRUE(find_contract(op.local.op)->is_measurable()) << id << " " << op.name;
    }
  }
}

// OPT keeps two positions more than it uses.
TEST(FamilyOperators, opt) {
  const OperatorGraph graph = graph_of("opt-6.7b", decode(1, 1));
  EXPECT_EQ(find_in(graph, "embedding", "position_embedding")->parameters, 2050 * 4096);
  expect_rows(graph, {{"decoder", "up_proj", 134'217'728}, {"decoder", "activation", 16'384}});
}

// One norm, one all-reduce; 32 heads of 80, FFN 10240.
TEST(FamilyOperators, phi_2_runs_its_networks_side_by_side) {
  const OperatorGraph graph = graph_of("phi-2", decode(1, 1, {.tp = 2}));
  EXPECT_THAT(names_of(graph, "decoder"),
              ElementsAre("input_norm", "q_proj", "kv_proj", "rope", "kv_append", "attention",
                          "o_proj", "up_proj", "activation", "down_proj", "block_add",
                          "block_all_reduce", "block_residual_add"));
  expect_rows(graph, {{"decoder", "q_proj", 13'107'200}, {"decoder", "up_proj", 52'428'800}});
  EXPECT_EQ(find_in(graph, "head", "lm_head")->parameters, 51'200 * 2'560 + 51'200);
}

// 48 heads of 256 on one KV head, H 18432.
TEST(FamilyOperators, palm) {
  const OperatorGraph graph = graph_of("palm-540b", decode(1, 1));
  expect_rows(graph, {{"decoder", "q_proj", 452'984'832},
                      {"decoder", "kv_proj", 18'874'368},
                      {"decoder", "gate_up_proj", 5'435'817'984},
                      {"decoder", "down_proj", 2'717'908'992}});
  EXPECT_EQ(find_in(graph, "decoder", "input_norm")->parameters, 18'432);  // a gain, no shift
}

// 8 heads of 256. Window: 4095 x 4096 / 2 + 4097 x 4096 pairs; full: 8192 x 8193 / 2.
TEST(FamilyOperators, gemma_2_prefill) {
  const OperatorGraph graph = graph_of("gemma-2-2b", prefill(1, 8192, 8192));
  expect_rows(graph, {{"decoder_window", "attention", 4.0 * 2048 * 25'167'872},
                      {"decoder", "attention", 4.0 * 2048 * 33'558'528},
                      {"decoder", "gate_up_proj", 695'784'701'952}});
  EXPECT_THAT(
      names_of(graph, "decoder"),
      ElementsAre("input_norm", "q_proj", "kv_proj", "rope", "kv_append", "attention", "o_proj",
                  "attention_post_norm", "attention_residual_add", "post_norm", "gate_up_proj",
                  "gated_activation", "down_proj", "ffn_post_norm", "ffn_residual_add"));
}

// 64 heads of 64, 4 of 32 experts of width 2880.
TEST(FamilyOperators, gpt_oss_decode) {
  const OperatorGraph graph = graph_of("gpt-oss-20b", decode(1, 4096));
  expect_rows(graph, {{"decoder_moe_window", "attention", 2'097'152},
                      {"decoder_moe", "attention", 67'108'864},
                      {"decoder_moe", "router", 184'320},
                      {"decoder_moe", "expert_gate_up", 132'710'400},
                      {"decoder_moe", "expert_down", 66'355'200}});
  EXPECT_EQ(find_in(graph, "decoder_moe", "attention")->parameters, 64);  // sinks
  EXPECT_EQ(find_in(graph, "decoder_moe", "router")->parameters, 32 * 2880 + 32);
  EXPECT_EQ(find_in(graph, "decoder_moe", "expert_down")->parameters,
            std::int64_t{32} * (2880 * 2880 + 2880));
}

// Two chunks of 8192 against 16384 x 16385 / 2 pairs; 40 heads of 128.
TEST(FamilyOperators, llama_4_prefill) {
  const OperatorGraph graph = graph_of("llama-4-scout", prefill(1, 16384, 16384));
  expect_rows(graph, {{"decoder_moe_chunk", "attention", 20'480.0 * 67'117'056},
                      {"decoder_moe", "attention", 20'480.0 * 134'225'920},
                      {"decoder_moe", "shared_gate_up_proj", 2.0 * 16384 * 5120 * 16384},
                      {"decoder_moe", "expert_gate_up", 2.0 * 16384 * 5120 * 16384}});
  EXPECT_EQ(find_in(graph, "decoder_moe", "q_norm"), nullptr);  // of rotated layers alone
  EXPECT_EQ(find_in(graph, "decoder_moe_chunk", "q_norm")->parameters, 0);
  // The first token of the second chunk sees itself.
  expect_rows(graph_of("llama-4-scout", decode(1, 8193)),
              {{"decoder_moe_chunk", "attention", 20'480}});
}

// A chunk that holds the whole context is plain causal attention, which has a reference.
TEST(FamilyOperators, llama_4_within_one_chunk_is_measurable) {
  const OperatorGraph graph = graph_of("llama-4-scout", decode(1, 8192));
  EXPECT_EQ(find_in(graph, "decoder_moe_chunk", "attention")->local.op, "attention");
}

// Scores of 192, values of 128 columns; 64 heads; 4 KV heads, 8 under the window of 128.
TEST(FamilyOperators, mimo_v2_decode) {
  const OperatorGraph graph = graph_of("mimo-v2-flash", decode(1, 4096));
  expect_rows(graph, {{"decoder", "attention", 167'772'160},
                      {"decoder_moe_window", "attention", 5'242'880},
                      {"decoder_moe", "kv_proj", 10'485'760},
                      {"decoder_moe_window", "kv_proj", 20'971'520},
                      {"decoder_moe", "q_proj", 100'663'296},
                      {"decoder_moe", "o_proj", 67'108'864},
                      {"decoder", "gate_up_proj", 268'435'456}});
}

TEST(FamilyOperators, minimax_m2_normalises_whole_rows) {
  const OperatorGraph graph = graph_of("minimax-m2", decode(1, 1, {.tp = 2}));
  EXPECT_EQ(find_in(graph, "decoder_moe", "q_norm")->parameters, 6144);
  EXPECT_EQ(find_in(graph, "decoder_moe", "k_norm")->parameters, 1024);
  EXPECT_NE(find_in(graph, "decoder_moe", "qk_norm_all_reduce"), nullptr);
  expect_rows(graph, {{"decoder_moe", "expert_gate_up", 8.0 * 2 * 3072 * 3072}});
}

TEST(FamilyOperators, dbrx_phi_and_nemotron_4) {
  expect_rows(graph_of("dbrx", decode(1, 1)), {{"decoder_moe", "expert_gate_up", 1'056'964'608}});
  expect_rows(graph_of("phi-3.5-moe", decode(1, 1)),
              {{"decoder_moe", "expert_gate_up", 209'715'200}});
  expect_rows(graph_of("nemotron-4-340b", decode(1, 1)),
              {{"decoder", "up_proj", 2'717'908'992}, {"decoder", "activation", 2 * 73'728}});
}

// A block without attention is a norm and a network.
TEST(FamilyOperators, nemotron_super) {
  const OperatorGraph graph = graph_of("nemotron-super-49b", decode(1, 1));
  EXPECT_THAT(names_of(graph, "ffn_14336"),
              ElementsAre("post_norm", "gate_up_proj", "gated_activation", "down_proj",
                          "ffn_residual_add"));
  expect_rows(graph, {{"ffn_5632", "down_proj", 2.0 * 8192 * 5632}});
}

// 16 key and 32 value heads of 128, kernel 4; attention 16 heads of 256 with a gate, 2 KV heads.
TEST(FamilyOperators, qwen3_next_decode) {
  const OperatorGraph graph = graph_of("qwen3-next", decode(1, 1));
  expect_rows(graph, {{"decoder_moe_delta_rule", "qkvz_proj", 50'331'648},
                      {"decoder_moe_delta_rule", "ba_proj", 262'144},
                      {"decoder_moe_delta_rule", "short_convolution", 65'536},
                      {"decoder_moe_delta_rule", "delta_rule", 3'670'016},
                      {"decoder_moe_delta_rule", "out_proj", 16'777'216},
                      {"decoder_moe", "q_proj", 33'554'432},
                      {"decoder_moe", "kv_proj", 4'194'304},
                      {"decoder_moe", "attention", 16'384},
                      {"decoder_moe", "expert_gate_up", 41'943'040},
                      {"decoder_moe", "shared_expert_gate", 4'096}});
}

// 64 heads of 64 with states of 128 columns, 8 groups, kernel 4; 6 of 128 experts of width 1856.
TEST(FamilyOperators, nemotron_3_nano_decode) {
  const OperatorGraph graph = graph_of("nemotron-3-nano", decode(1, 1));
  expect_rows(graph, {{"mamba", "in_proj", 55'394'304},
                      {"mamba", "short_convolution", 49'152},
                      {"mamba", "state_scan", 2'621'440},
                      {"mamba", "out_proj", 22'020'096},
                      {"moe", "expert_up", 59'867'136},
                      {"moe", "expert_down", 59'867'136},
                      {"moe", "shared_up_proj", 19'955'712}});
}

// 8192 channels of 16 values, steps of rank 256, kernel 4; every other layer has 2 of 16 experts.
TEST(FamilyOperators, jamba_decode) {
  const OperatorGraph graph = graph_of("jamba-v0.1", decode(1, 1));
  expect_rows(graph, {{"decoder_selective_scan", "in_proj", 134'217'728},
                      {"decoder_selective_scan", "short_convolution", 65'536},
                      {"decoder_selective_scan", "x_proj", 4'718'592},
                      {"decoder_selective_scan", "dt_proj", 4'194'304},
                      {"decoder_selective_scan", "selective_scan", 917'504},
                      {"decoder_selective_scan", "out_proj", 67'108'864}});
}

// The routed experts work in 1024 of 4096 columns.
TEST(FamilyOperators, nemotron_3_super_has_latent_experts) {
  const OperatorGraph graph = graph_of("nemotron-3-super", decode(1, 1));
  expect_rows(graph, {{"moe", "latent_down", 8'388'608},
                      {"moe", "latent_up", 8'388'608},
                      {"moe", "router", 4'194'304},
                      {"moe", "expert_up", 121'110'528},
                      {"moe", "expert_down", 121'110'528}});
  EXPECT_EQ(find_in(graph, "moe", "moe_dispatch")->local.params.at("hidden"), 1024);
}

// Bytes of a decode step: states of 32 x 128 x 128 f32 are read and written.
// 4096 tokens, 32 heads of 128 x 128. A chunk of 64: 6 x 64 x 128 x 128 + 64^2 x 10 x 128 + 64^3 /
// 3 = 11,621,717.33 FLOPs a head against 7 x 64 x 128 x 128 = 7,340,032 token by token.
TEST(FamilyOperators, a_chunked_delta_rule_executes_more_than_the_model_counts) {
  const ModelSpec spec = shipped("qwen3-next-80b-a3b");
  const auto built = [&](const StepForm& form) {
    return *build_graph(spec, prefill(1, 4096, 4096), form);
  };
  const OperatorGraph recurrent = built({}), chunked = built({.delta_chunk = 64});
  const Operator& op = *find_in(chunked, "decoder_moe_delta_rule", "delta_rule");
  EXPECT_EQ(op.whole_work.matmul_flops, 32.0 * 4096 * 7 * 128 * 128);
  EXPECT_NEAR(op.rank_work.matmul_flops, 32.0 * 64 * (6'291'456 + 5'242'880 + 262'144.0 / 3), 1);
  EXPECT_EQ(chunked.totals.matmul_flops, recurrent.totals.matmul_flops);
  EXPECT_GT(chunked.totals.matmul_flops_per_rank, recurrent.totals.matmul_flops_per_rank);

  const auto reason = [&](const ModelSpec& of, const Configuration& d, std::int64_t chunk) {
    const auto result = build_graph(of, d, StepForm{.delta_chunk = chunk});
    return !result ? result.failure.reason : "";
  };
  EXPECT_EQ(reason(spec, prefill(1, 8, 8), -1), "nonpositive_input");
  EXPECT_EQ(reason(spec, decode(1, 8), 64), "delta_chunk_without_sequence");
  EXPECT_EQ(reason(shipped("gpt2"), prefill(1, 8, 8), 64), "delta_chunk_without_delta_rule");
}

TEST(FamilyOperators, a_delta_rule_moves_its_state_twice) {
  const OperatorGraph graph = graph_of("qwen3-next", decode(3, 100));
  const Operator& op = *find_in(graph, "decoder_moe_delta_rule", "delta_rule");
  const double states = 2.0 * 3 * 32 * 128 * 128 * 4;
  const double values = 3.0 * (2 * 2048 + 4096 + 64 + 4096) * 2 + 64 * 4;
  EXPECT_EQ(op.whole_work.bytes(), states + values);
  EXPECT_EQ(op.whole_work.bytes_written, states / 2 + 3 * 4096 * 2);
}

MemoryUse use_of(std::string_view id, const Configuration& configuration) {
  return memory_use(graph_of(id, configuration));
}

// Per sequence: the state in f32 and the last three tokens of the convolution, whatever the
// context.
TEST(FamilyMemory, recurrent_layers_keep_a_constant_state) {
  const std::int64_t delta = 36 * (32 * 128 * 128 * 4 + 3 * 8192 * 2);
  for (const std::int64_t context : {1, 4096}) {
    const MemoryUse use = use_of("qwen3-next", decode(2, context));
    EXPECT_EQ(use.kv_bytes_per_token, 12 * 2 * 512 * 2);
    EXPECT_EQ(use.state_bytes_per_sequence, delta);
    EXPECT_EQ(use.largest.kv_bytes, 2 * (delta + context * 24'576));
  }
  const MemoryUse nano = use_of("nemotron-3-nano", decode(1, 100));
  EXPECT_EQ(nano.state_bytes_per_sequence, 23 * (64 * 64 * 128 * 4 + 3 * 6144 * 2));
  EXPECT_EQ(nano.kv_bytes_per_token, 6 * 2 * 256 * 2);
  // Half of the heads and groups on each of two ranks.
  EXPECT_EQ(use_of("nemotron-3-nano", decode(1, 100, {.tp = 2})).largest.kv_bytes,
            nano.largest.kv_bytes / 2);
  EXPECT_EQ(use_of("llama-3.1-8b", decode(1, 1)).state_bytes_per_sequence, 0);
}

TEST(FamilyMemory, windows_and_chunks_bound_what_is_kept) {
  // 13 layers of 4096 tokens, 13 of 8000; 4 KV heads of 256, bf16.
  EXPECT_EQ(use_of("gemma-2-2b", decode(1, 8000)).largest.kv_bytes,
            std::int64_t{13} * (4096 + 8000) * 2 * 1024 * 2);
  // 36 chunked layers of 8192, 12 of 10000; 8 KV heads of 128.
  EXPECT_EQ(use_of("llama-4-scout", decode(1, 10'000)).largest.kv_bytes,
            std::int64_t{36 * 8192 + 12 * 10'000} * 2 * 1024 * 2);
  // 9 full layers of 4 KV heads, 39 windows of 128 with 8; keys 192, values 128.
  EXPECT_EQ(use_of("mimo-v2-flash", decode(1, 1000)).largest.kv_bytes,
            std::int64_t{9 * 4 * 1000 + 39 * 8 * 128} * 320 * 2);
  EXPECT_EQ(use_of("nemotron-super-49b", decode(1, 1)).kv_bytes_per_token, 49 * 2 * 1024 * 2);
}

}  // namespace
}  // namespace halmark
