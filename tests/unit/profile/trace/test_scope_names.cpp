// What a module is called by its class, its parent and its place among its siblings: the names that
// the models of transformers and of the serving libraries give.
#include <gtest/gtest.h>

#include "profile/trace/scope_tree.hpp"
#include "trace_text.hpp"

namespace halmark::trace_test {
namespace {

constexpr const char* mm = "[[4, 8], [8, 16]]";

struct Module {
  std::string parent;
  std::vector<std::string> children;
};

// Each child of the parent executes one product; its path's last parts are its name.
std::vector<std::string> leaves_of(const Module& module) {
  TraceText t;
  t.module("ForCausalLM_0", 0, 100).module("DecoderLayer_3", 1, 98).module(module.parent, 2, 90);
  double at = 3;
  for (const std::string& child : module.children) {
    t.module(child, at, 2).op("aten::mm", at + 0.5, 1, mm);
    at += 3;
  }
  const Read r = read_text(t.text());
  std::vector<std::string> out;
  for (const OperatorRow& row : r.attribution.rows) {
    const std::string& path = r.attribution.scopes[row.scope].path;
    EXPECT_TRUE(path.starts_with("layers.3.")) << path;
    EXPECT_EQ(r.attribution.scopes[row.scope].layer, 3);
    const std::size_t parent_end = path.find('.', 9);
    out.push_back(path.substr(parent_end + 1));
  }
  return out;
}

std::vector<std::string> numbered(const std::string& of, int count) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) out.push_back(of + '_' + std::to_string(i));
  return out;
}

using Names = std::vector<std::string>;

TEST(ScopeNames, of_linear_layers_follow_from_their_number_and_the_class_of_their_parent) {
  const auto linears = [](const std::string& parent, int count, const std::string& of = "Linear") {
    return leaves_of({parent + "_0", numbered(of, count)});
  };
  EXPECT_EQ(linears("LlamaAttention", 2), (Names{"qkv_proj", "o_proj"}));
  EXPECT_EQ(linears("LlamaAttention", 4), (Names{"q_proj", "k_proj", "v_proj", "o_proj"}));
  EXPECT_EQ(linears("LlamaAttention", 3), (Names{"linear.0", "linear.1", "linear.2"}));
  const Names latent = {"q_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj"};
  EXPECT_EQ(linears("DeepseekV2Attention", 4), latent);
  EXPECT_EQ(linears("KimiAttention", 4), latent);
  EXPECT_EQ(linears("DeepseekV3Attention", 5),
            (Names{"q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj"}));
  EXPECT_EQ(linears("DeepseekV4Attention", 5),
            (Names{"q_a_proj", "q_b_proj", "kv_proj", "o_a_proj", "o_b_proj"}));
  EXPECT_EQ(linears("GPT2Attention", 2, "Conv1D"), (Names{"c_attn", "c_proj"}));
  EXPECT_EQ(linears("GPT2Attention", 3, "Conv1D"), (Names{"linear.0", "linear.1", "linear.2"}));
  EXPECT_EQ(linears("LlamaMLP", 3), (Names{"gate_proj", "up_proj", "down_proj"}));
  EXPECT_EQ(linears("PhiMLP", 2), (Names{"up_proj", "down_proj"}));
  EXPECT_EQ(linears("GPT2MLP", 2, "Conv1D"), (Names{"c_fc", "c_proj"}));
  EXPECT_EQ(linears("GPT2MLP", 3, "Conv1D"), (Names{"linear.0", "linear.1", "linear.2"}));
  EXPECT_EQ(linears("GPT2MLP", 1, "Conv1D"), (Names{"linear"}));
  EXPECT_EQ(linears("Qwen2MoeSparseMoeBlock", 2), (Names{"gate", "shared_expert_gate"}));
  EXPECT_EQ(linears("Qwen3NextGatedDeltaNet", 3),
            (Names{"in_proj_qkvz", "in_proj_ba", "out_proj"}));
  EXPECT_EQ(linears("Qwen3_5GatedDeltaNet", 5),
            (Names{"in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a", "out_proj"}));
  EXPECT_EQ(linears("NemotronHMamba2Mixer", 2), (Names{"in_proj", "out_proj"}));
  EXPECT_EQ(linears("NemotronHMamba2Mixer", 4),
            (Names{"linear.0", "linear.1", "linear.2", "linear.3"}));
  EXPECT_EQ(linears("DeepseekV32Indexer", 3), (Names{"wq_b", "wk", "weights_proj"}));
  EXPECT_EQ(linears("DeepseekV4Indexer", 3), (Names{"kv_proj", "gate_proj", "q_b_proj"}));
  EXPECT_EQ(linears("DeepseekV4IndexerScorer", 1), (Names{"weights_proj"}));
  EXPECT_EQ(linears("DeepseekV4Compressor", 2), (Names{"kv_proj", "gate_proj"}));
  EXPECT_EQ(linears("DeepseekV4Compressor", 3), (Names{"linear.0", "linear.1", "linear.2"}));
}

TEST(ScopeNames, a_router_beside_them_leaves_the_gate_to_it) {
  EXPECT_EQ(leaves_of({"Qwen2MoeSparseMoeBlock_0", {"Qwen2MoeTopKRouter_0", "Linear_0"}}),
            (Names{"gate", "shared_expert_gate"}));
}

TEST(ScopeNames, fused_layers_say_which_they_are) {
  EXPECT_EQ(leaves_of({"LlamaAttention_0", {"QKVParallelLinear_0", "RowParallelLinear_0"}}),
            (Names{"qkv_proj", "o_proj"}));
  EXPECT_EQ(leaves_of({"LlamaMLP_0", {"MergedColumnParallelLinear_0", "RowParallelLinear_0"}}),
            (Names{"gate_up_proj", "down_proj"}));
}

TEST(ScopeNames, of_norms_follow_from_their_number_and_the_family) {
  const auto norms = [](const std::string& parent, int count) {
    return leaves_of({parent + "_0", numbered("RMSNorm", count)});
  };
  EXPECT_EQ(norms("Qwen3Attention", 2), (Names{"q_norm", "k_norm"}));
  EXPECT_EQ(norms("DeepseekV3Attention", 2), (Names{"q_a_layernorm", "kv_a_layernorm"}));
  EXPECT_EQ(norms("KimiAttention", 2), (Names{"q_a_layernorm", "kv_a_layernorm"}));
  EXPECT_EQ(norms("DeepseekV2Attention", 1), (Names{"kv_a_layernorm"}));
  EXPECT_EQ(norms("Qwen3Attention", 1), (Names{"norm"}));
  EXPECT_EQ(norms("Qwen3Attention", 3), (Names{"norm.0", "norm.1", "norm.2"}));
}

TEST(ScopeNames, norms_of_a_layer_are_two_or_four) {
  const auto of_layer = [](int count) {
    TraceText t;
    t.module("GemmaDecoderLayer_0", 0, 100);
    for (int i = 0; i < count; ++i) {
      t.module("RMSNorm_" + std::to_string(i), 1 + 3 * i, 2).op("aten::mm", 1.5 + 3 * i, 1, mm);
    }
    const Read r = read_text(t.text());
    Names out;
    for (const OperatorRow& row : r.attribution.rows) {
      out.push_back(r.attribution.scopes[row.scope].path);
    }
    return out;
  };
  EXPECT_EQ(of_layer(2), (Names{"layers.0.input_layernorm", "layers.0.post_attention_layernorm"}));
  EXPECT_EQ(of_layer(4),
            (Names{"layers.0.input_layernorm", "layers.0.post_attention_layernorm",
                   "layers.0.pre_feedforward_layernorm", "layers.0.post_feedforward_layernorm"}));
  EXPECT_EQ(of_layer(3), (Names{"layers.0.norm.0", "layers.0.norm.1", "layers.0.norm.2"}));
}

TEST(ScopeNames, classes_have_kinds_by_their_endings) {
  const std::pair<const char*, ModuleKind> kinds[] = {
      {"LlamaRMSNorm", ModuleKind::norm},
      {"Qwen3NextRMSNormGated", ModuleKind::norm},
      {"NemotronLayerNorm1P", ModuleKind::norm},
      {"Qwen3MoeMLP", ModuleKind::mlp},
      {"MptFFN", ModuleKind::mlp},
      {"DbrxFeedForward", ModuleKind::mlp},
      {"GptOssExperts", ModuleKind::experts},
      {"FusedMoE", ModuleKind::experts},
      {"GptOssTopKRouter", ModuleKind::router},
      {"MoEGate", ModuleKind::router},
      {"MixtralSparseMoeBlock", ModuleKind::moe},
      {"DeepseekV3MoE", ModuleKind::moe},
      {"DeepseekV3Moe", ModuleKind::moe},
      {"VocabParallelEmbedding", ModuleKind::embedding},
      {"LlamaRotaryEmbedding", ModuleKind::rotary},
      {"SiLU", ModuleKind::activation},
      {"SiluAndMul", ModuleKind::activation},
      {"NewGELUActivation", ModuleKind::activation},
      {"GELU", ModuleKind::activation},
      {"GELUTanh", ModuleKind::activation},
      {"ReLU", ModuleKind::activation},
      {"Linear", ModuleKind::linear},
      {"Conv1D", ModuleKind::linear},
      {"ParallelLMHead", ModuleKind::linear},
      {"Qwen3NextGatedDeltaNet", ModuleKind::recurrence},
      {"NemotronHMamba2Mixer", ModuleKind::recurrence},
      {"MambaMixer2", ModuleKind::recurrence},
      {"Conv1d", ModuleKind::recurrence},
      {"DeepseekV32Indexer", ModuleKind::indexer},
      {"DeepseekV4IndexerScorer", ModuleKind::indexer},
      {"DeepseekV4Compressor", ModuleKind::compressor},
      {"DeepseekV4HyperConnection", ModuleKind::hyper_connection},
      {"DeepseekV4HyperHead", ModuleKind::hyper_connection},
      {"LlamaAttention", ModuleKind::attention},
      {"QwenAttn", ModuleKind::attention},
      {"LlamaDecoderLayer", ModuleKind::layer},
      {"BertEncoderLayer", ModuleKind::layer},
      {"TransformerLayer", ModuleKind::layer},
      {"GPT2Block", ModuleKind::layer},
      {"LlamaModel", ModuleKind::other},
      {"", ModuleKind::other}};
  for (const auto& [name, kind] : kinds) EXPECT_EQ(kind_of_class(name), kind) << name;
}

TEST(ScopeNames, dotted_paths_are_told_from_other_annotations) {
  for (const char* path : {"model.layers.0.mlp", "a.b", "layers.12.self_attn.q_proj", "A_1.b2"}) {
    EXPECT_TRUE(is_dotted_path(path)) << path;
  }
  for (const char* other : {"model", "Optimizer.step", "a b.c", "x.py", "a.b#1", ""}) {
    EXPECT_FALSE(is_dotted_path(other)) << other;
  }
}

// Annotations as paths: the layer is the number behind "layers.", "h." or "blocks.".
TEST(ScopeNames, a_path_says_its_layer) {
  const auto layer_of = [](const std::string& path) {
    const Read r = read_text(TraceText().annotation(path, 0, 10).op("aten::mm", 1, 5, mm).text());
    const Scope& scope = r.attribution.scopes[r.attribution.rows.at(0).scope];
    EXPECT_EQ(scope.path, path);
    return scope.layer;
  };
  EXPECT_EQ(layer_of("model.layers.12.mlp.up_proj"), 12);
  EXPECT_EQ(layer_of("transformer.h.7.attn.c_attn"), 7);
  EXPECT_EQ(layer_of("net.blocks.3.ffn"), 3);
  EXPECT_EQ(layer_of("layers.0.x"), 0);
  EXPECT_EQ(layer_of("sublayers.5.layers.6.x"), 6) << "a part of its own";
  EXPECT_EQ(layer_of("model.norm"), -1);
  EXPECT_EQ(layer_of("model.layers.x.mlp"), -1);
}

// "Qwen3Attention_0" without the prefix of torch's exporter: a class and a number, nothing less.
TEST(ScopeNames, exporters_without_the_prefix_name_modules_too) {
  const auto path_of = [](const std::string& frame) {
    const Read r = read_text(TraceText()
                                 .frame("LlamaDecoderLayer_2", 0, 20)
                                 .frame(frame, 1, 10)
                                 .op("aten::mm", 2, 5, mm)
                                 .text());
    return r.attribution.scopes[r.attribution.rows.at(0).scope].path;
  };
  EXPECT_EQ(path_of("LlamaMLP_0"), "layers.2.mlp");
  EXPECT_EQ(path_of("AMLP_17"), "layers.2.mlp");
  EXPECT_EQ(path_of("ZMLP_9"), "layers.2.mlp");
  for (const char* none : {"llamaMLP_0", "LlamaMLP_", "LlamaMLP", "LlamaMLP_0x", "_0", "[MLP_0",
                           "@MLP_0", "<built-in>_0"}) {
    EXPECT_EQ(path_of(none), "layers.2") << none;
  }
}

}  // namespace
}  // namespace halmark::trace_test
