// Traces of newer families, written by hand: what their modules execute is found in the model.
// Classes, linears and their order are those of transformers 5.23.0 (models/qwen3_next, nemotron_h,
// deepseek_v32, deepseek_v4, gpt_oss), dotted names those of DeepSeek-V3.2's own inference code.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/spec/model_spec.hpp"
#include "trace_text.hpp"

namespace halmark::trace_test {
namespace {

OperatorGraph graph_of(const std::string& config, const Workload& workload) {
  const ModelSpec spec = read_model(config, "config.json");
  auto built = build_graph(spec, {"m", {}, {"f32"}, workload});
  if (const auto* refusal = built.why()) throw std::runtime_error(refusal->text);
  return *std::move(built);
}

Comparison compare(const TraceText& trace, const std::string& config, const Workload& workload) {
  const Read r = read_text(trace.text());
  Comparison out;
  compare_pass(r.recording, r.attribution, 0, graph_of(config, workload), 0.01, {}, out);
  return out;
}

// "q_proj ok, router mismatch", without the head, which these traces have not.
std::string verdicts_of(const Comparison& comparison) {
  std::string out;
  for (const ComparedRow& row : comparison.rows) {
    if (row.operators == "lm_head") continue;
    out += (out.empty() ? "" : ", ") + row.operators + ' ' + std::string(verdict_name(row.verdict));
  }
  return out;
}

// Two sequences of three tokens.
constexpr Workload prompt = {.phase = Phase::prefill, .batch = 2, .new_tokens = 3, .context = 3};

// Places modules one after the other; each `inside` fills the time of the one that encloses it.
class Layers {
 public:
  explicit Layers(const std::string& family) : family_(family) {
    trace_.module(family + "ForCausalLM_0", 0, 1000).module(family + "Model_0", 1, 990);
    trace_.module(family + "DecoderLayer_0", 2, 980);
  }
  Layers& begin(const std::string& of, double duration) {
    trace_.module(family_ + of, now_, duration);
    end_.push_back(now_ + duration);
    now_ += 0.5;
    return *this;
  }
  Layers& end() {
    now_ = end_.back() + 1;
    end_.pop_back();
    return *this;
  }
  // A linear layer x W^T with `rows` rows.
  Layers& linear(int number, int rows, int in, int out, const std::string& of = "Linear") {
    trace_.module(of + '_' + std::to_string(number), now_, 1);
    return product(rows, in, out);
  }
  Layers& product(int rows, int in, int out) {
    trace_.op("aten::mm", now_ + 0.2, 0.5,
              "[[" + std::to_string(rows) + ", " + std::to_string(in) + "], [" +
                  std::to_string(in) + ", " + std::to_string(out) + "]]");
    now_ += 2;
    return *this;
  }
  Layers& batched(int batch, int m, int k, int n) {
    const auto dims = [batch](int a, int b) {
      return "[" + std::to_string(batch) + ", " + std::to_string(a) + ", " + std::to_string(b) +
             "]";
    };
    trace_.op("aten::bmm", now_, 1, "[" + dims(m, k) + ", " + dims(k, n) + "]");
    now_ += 2;
    return *this;
  }
  Layers& op(const std::string& name) {
    trace_.op(name, now_, 1, "[[6, 8]]");
    now_ += 2;
    return *this;
  }
  const TraceText& trace() const { return trace_; }

 private:
  std::string family_;
  TraceText trace_;
  double now_ = 3;
  std::vector<double> end_;
};

// Real traces (tests/data/README.md), whole.
class FamilyTrace : public testing::TestWithParam<const char*> {};

TEST_P(FamilyTrace, every_product_is_the_model_s_and_nothing_is_unexplained) {
  const std::string name = data_file(std::string("tiny-") + GetParam());
  const auto source = open_bytes(name + ".trace.json.gz");
  const Read r = read_bytes(*source);
  const ModelSpec spec = load_model(name + ".json", {});
  ASSERT_EQ(r.attribution.passes.size(), 2u);
  for (std::uint32_t pass = 0; pass < 2; ++pass) {
    const auto workload = workload_of(r.attribution, pass, spec, {});
    ASSERT_TRUE(workload.has_value());
    EXPECT_EQ(workload->batch, 2);
    EXPECT_EQ(workload->new_tokens, pass == 0 ? 12 : 1);
    EXPECT_EQ(workload->context, pass == 0 ? 12 : 13);
    auto built = build_graph(spec, {"m", {}, {"f32"}, *workload});
    Comparison c;
    compare_pass(r.recording, r.attribution, pass, *built, 0.01, {}, c);
    EXPECT_EQ(c.count(Verdict::ok), c.rows.size());
    EXPECT_EQ(c.unexplained(), 0u);
    EXPECT_GT(c.rows.size(), 10u);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, FamilyTrace,
                         testing::Values("deepseek-v3.2", "qwen3-next", "nemotron-h"),
                         [](const auto& info) {
                           std::string out = info.param;
                           std::ranges::replace_if(
                               out, [](char c) { return c == '-' || c == '.'; }, '_');
                           return out;
                         });

void feed_forward(Layers& t) {
  t.begin("MLP_0", 20).linear(90, 6, 8, 16).linear(91, 6, 8, 16).linear(92, 6, 16, 8).end();
}

TEST(FamilyRoles, a_gated_delta_net_is_its_projections_and_a_recurrence_of_the_library) {
  Layers t("Qwen3Next");
  t.begin("GatedDeltaNet_0", 60).linear(0, 6, 8, 24).linear(1, 6, 8, 4);
  t.op("aten::conv1d").op("aten::softplus").batched(4, 3, 4, 3).batched(4, 3, 3, 4);
  t.begin("RMSNormGated_0", 5).op("aten::pow").end().linear(2, 6, 8, 8).end();
  feed_forward(t);
  const Comparison c = compare(
      t.trace(), R"({"model_type": "qwen3_next", "num_hidden_layers": 1, "mlp_only_layers": [0],
    "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8,
    "shared_expert_intermediate_size": 8,
    "hidden_size": 8, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
    "layer_types": ["linear_attention"], "linear_num_key_heads": 1, "linear_key_head_dim": 4,
    "linear_num_value_heads": 2, "linear_value_head_dim": 4, "linear_conv_kernel_dim": 4,
    "intermediate_size": 16, "vocab_size": 32})",
      prompt);
  EXPECT_EQ(verdicts_of(c), "qkvz_proj ok, ba_proj ok, out_proj ok, gate_up_proj ok, down_proj ok");
  EXPECT_EQ(c.unexplained(), 0u);
}

TEST(FamilyRoles, a_mamba_2_mixer_is_two_linears_around_a_scan) {
  Layers t("NemotronH");
  // z and x of 8, B and C of 4 in one group, 2 steps.
  t.begin("Mamba2Mixer_0", 40).linear(0, 6, 8, 26).op("aten::silu").batched(2, 3, 4, 3);
  t.begin("RMSNormGated_0", 5).op("aten::rsqrt").end().linear(1, 6, 8, 8).end();
  const Comparison c = compare(t.trace(), R"({"model_type": "nemotron_h", "num_hidden_layers": 1,
    "hybrid_override_pattern": "M", "hidden_size": 8, "num_attention_heads": 2,
    "num_key_value_heads": 1, "head_dim": 4, "mamba_num_heads": 2, "mamba_head_dim": 4,
    "ssm_state_size": 4, "n_groups": 1, "conv_kernel": 4, "intermediate_size": 16,
    "vocab_size": 32})",
                               prompt);
  EXPECT_EQ(verdicts_of(c), "in_proj ok, out_proj ok");
  EXPECT_EQ(c.unexplained(), 0u);
}

constexpr std::string_view sparse_config = R"({"model_type": "deepseek_v32",
  "num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2, "q_lora_rank": 6,
  "kv_lora_rank": 4, "qk_nope_head_dim": 4, "qk_rope_head_dim": 2, "v_head_dim": 4,
  "index_n_heads": 2, "index_head_dim": 16, "index_topk": 2, "n_routed_experts": 4,
  "num_experts_per_tok": 2, "moe_intermediate_size": 16, "first_k_dense_replace": 1,
  "intermediate_size": 16, "vocab_size": 32})";

TEST(FamilyRoles, a_sparse_indexer_is_its_projections_and_its_scores) {
  Layers t("DeepseekV32");
  t.begin("Attention_0", 90).linear(0, 6, 8, 6).linear(1, 6, 6, 12).linear(2, 6, 8, 6);
  t.linear(3, 6, 4, 16);
  t.begin("Indexer_0", 30).linear(10, 6, 6, 32).linear(11, 6, 8, 16);
  t.batched(4, 3, 16, 3).linear(12, 6, 8, 2).batched(6, 1, 2, 3).op("aten::topk").end();
  t.batched(4, 3, 6, 3).op("aten::_softmax").batched(4, 3, 3, 4).linear(4, 6, 8, 8).end();
  feed_forward(t);
  const Comparison c = compare(t.trace(), std::string(sparse_config), prompt);
  EXPECT_EQ(verdicts_of(c),
            "q_a_proj ok, q_b_proj ok, kv_a_proj ok, index_q_proj ok, index_k_proj ok, "
            "index_weights_proj ok, index_score ok, kv_b_proj ok, attention_explicit ok, "
            "o_proj ok, gate_up_proj ok, down_proj ok");
  EXPECT_EQ(c.unexplained(), 0u);
}

TEST(FamilyRoles, names_of_the_inference_code_are_known_too) {
  TraceText t;
  double at = 1;
  const auto linear = [&](const std::string& name, int in, int out) {
    t.annotation("model.layers.0." + name, at, 3);
    t.op("aten::mm", at + 1, 1,
         "[[6, " + std::to_string(in) + "], [" + std::to_string(in) + ", " + std::to_string(out) +
             "]]");
    at += 5;
  };
  t.module("Transformer_0", 0, 200).annotation("model.layers.0.attn", 0.5, 60);
  linear("attn.wq_a", 8, 6);
  linear("attn.wq_b", 6, 12);
  linear("attn.wkv_a", 8, 6);
  linear("attn.wkv_b", 4, 16);
  linear("attn.wo", 8, 8);
  t.annotation("model.layers.0.attn.indexer", at, 40);
  at += 1;
  linear("attn.indexer.wq_b", 6, 32);
  linear("attn.indexer.wk", 8, 16);
  linear("attn.indexer.weights_proj", 8, 2);
  const Comparison c = compare(t, std::string(sparse_config), prompt);
  for (const char* name : {"q_a_proj", "q_b_proj", "kv_a_proj", "kv_b_proj", "o_proj",
                           "index_q_proj", "index_k_proj", "index_weights_proj"}) {
    EXPECT_THAT(verdicts_of(c), testing::HasSubstr(std::string(name) + " ok"));
  }
  EXPECT_EQ(c.unexplained(), 0u);
}

// Decode that expands the whole cache again, as transformers does, is compared in that form.
TEST(FamilyRoles, latent_attention_is_compared_in_the_form_that_was_executed) {
  for (const bool expands : {true, false}) {
    Layers t("DeepseekV3");
    t.begin("Attention_0", 60).linear(0, 2, 8, 6).linear(1, 2, 6, 12).linear(2, 2, 8, 6);
    t.linear(3, expands ? 2 * 9 : 2, 4, 16);
    t.batched(4, 1, 6, 9).batched(4, 1, 9, 4).linear(4, 2, 8, 8).end();
    const Read r = read_text(t.trace().text());
    const ModelSpec spec = read_model(R"({"model_type": "deepseek_v3", "num_hidden_layers": 1,
      "hidden_size": 8, "num_attention_heads": 2, "q_lora_rank": 6, "kv_lora_rank": 4,
      "qk_nope_head_dim": 4, "qk_rope_head_dim": 2, "v_head_dim": 4, "n_routed_experts": 4,
      "num_experts_per_tok": 2, "moe_intermediate_size": 16, "first_k_dense_replace": 1,
      "intermediate_size": 16, "vocab_size": 32})",
                                      "config.json");
    const auto workload = workload_of(r.attribution, 0, spec, {});
    ASSERT_TRUE(workload.has_value());
    EXPECT_EQ(workload->context, 9);
    EXPECT_EQ(workload->new_tokens, 1);
    EXPECT_EQ(workload->phase, expands ? Phase::prefill : Phase::decode);
  }
}

TEST(FamilyRoles, sinks_and_fused_experts_of_gpt_oss_are_attention_and_experts) {
  Layers t("GptOss");
  t.begin("Attention_0", 60).linear(0, 6, 8, 8).linear(1, 6, 8, 4).linear(2, 6, 8, 4);
  t.batched(4, 3, 4, 3).op("aten::cat").op("aten::_softmax").batched(4, 3, 3, 4);
  t.linear(3, 6, 8, 8).end();
  t.begin("MLP_0", 60).begin("TopKRouter_0", 8).product(6, 8, 4).op("aten::topk").end();
  // 12 rows of 4 experts, 3 each.
  t.begin("Experts_0", 20).batched(4, 3, 8, 32).op("aten::clamp").batched(4, 3, 16, 8).end().end();
  const Comparison c = compare(t.trace(), R"({"model_type": "gpt_oss", "num_hidden_layers": 1,
    "hidden_size": 8, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4,
    "layer_types": ["full_attention"], "num_local_experts": 4, "num_experts_per_tok": 2,
    "intermediate_size": 16, "vocab_size": 32})",
                               prompt);
  EXPECT_EQ(verdicts_of(c),
            "q_proj ok, kv_proj ok, attention ok, o_proj ok, router ok, "
            "expert_gate_up + expert_down ok");
  EXPECT_EQ(c.unexplained(), 0u);
}

// Beside a module of routed experts the one network of a mixture is the shared one, and the one
// linear beside a router is the gate of the shared experts.
TEST(FamilyRoles, shared_experts_and_their_gate_are_told_from_the_routed_ones) {
  Layers t("Qwen3Next");
  t.begin("SparseMoeBlock_0", 90).begin("MLP_0", 20).linear(0, 6, 8, 12).linear(1, 6, 8, 12);
  t.linear(2, 6, 12, 8).end().begin("TopKRouter_0", 8).product(6, 8, 4).end();
  t.begin("Experts_0", 20).product(12, 8, 32).product(12, 16, 8).end().linear(3, 6, 8, 1).end();
  const Comparison c = compare(t.trace(), R"({"model_type": "qwen3_next", "num_hidden_layers": 1,
    "hidden_size": 8, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
    "layer_types": ["linear_attention"], "linear_num_key_heads": 1, "linear_key_head_dim": 4,
    "linear_num_value_heads": 2, "linear_value_head_dim": 4, "linear_conv_kernel_dim": 4,
    "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 12, "vocab_size": 32})",
                               prompt);
  for (const char* name : {"shared_gate_up_proj", "shared_down_proj", "shared_expert_gate",
                           "router", "expert_gate_up + expert_down"}) {
    EXPECT_THAT(verdicts_of(c), testing::HasSubstr(std::string(name) + " ok"));
  }
  EXPECT_EQ(c.unexplained(), 0u);
}

TEST(FamilyRoles, hyper_connections_and_compressors_of_deepseek_v4_are_found) {
  Layers t("DeepseekV4");
  // 2 streams: 8 coefficients of 16 values. Ratio 4: value and gate of 2 x 8 columns.
  t.begin("HyperConnection_0", 6).product(6, 16, 8).op("aten::sigmoid").end();
  t.begin("Attention_0", 120).linear(0, 6, 8, 6).linear(1, 6, 6, 16).linear(2, 6, 8, 8);
  t.begin("CSACompressor_0", 50).linear(10, 6, 8, 16).linear(11, 6, 8, 16);
  t.begin("Indexer_0", 30).linear(20, 6, 8, 32).linear(21, 6, 8, 32).linear(22, 6, 6, 32);
  t.begin("IndexerScorer_0", 10).linear(30, 6, 8, 2).op("aten::relu").end().end().end();
  t.begin("GroupedLinear_0", 3).batched(2, 6, 8, 4).end().linear(3, 6, 8, 8).end();
  t.batched(6, 2, 2, 8);  // streams mixed by the layer itself
  t.begin("HyperConnection_1", 6).product(6, 16, 8).end();
  const Comparison c = compare(t.trace(), R"({"model_type": "deepseek_v4", "num_hidden_layers": 1,
    "hidden_size": 8, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
    "qk_rope_head_dim": 2, "q_lora_rank": 6, "o_groups": 2, "o_lora_rank": 4,
    "compress_ratios": [4], "sliding_window": 4, "hc_mult": 2, "hc_sinkhorn_iters": 2,
    "index_n_heads": 2, "index_head_dim": 16, "index_topk": 2, "n_routed_experts": 4,
    "num_experts_per_tok": 2, "moe_intermediate_size": 16, "n_shared_experts": 1,
    "vocab_size": 32})",
                               prompt);
  for (const char* name :
       {"attention_mix", "q_a_proj", "q_b_proj", "kv_proj", ", compressor", "index_q_proj",
        "index_weights_proj", "index_compressor", "o_a_proj", "o_b_proj", "ffn_mix"}) {
    EXPECT_THAT(verdicts_of(c), testing::HasSubstr(std::string(name) + " ok"));
  }
  EXPECT_EQ(c.unexplained(), 0u);
}

}  // namespace
}  // namespace halmark::trace_test
