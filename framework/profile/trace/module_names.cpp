#include "profile/trace/module_names.hpp"

#include <algorithm>
#include <array>

namespace halmark::trace {
namespace {

struct ClassEnding {
  std::string_view ending;
  ModuleKind kind;
};

// The first that fits; "MLP" before "MoE" words, because experts are called Qwen3MoeMLP.
constexpr std::array endings = {
    ClassEnding{"Norm", ModuleKind::norm},
    ClassEnding{"NormGated", ModuleKind::norm},
    ClassEnding{"LayerNorm1P", ModuleKind::norm},
    ClassEnding{"MLP", ModuleKind::mlp},
    ClassEnding{"FeedForward", ModuleKind::mlp},
    ClassEnding{"FFN", ModuleKind::mlp},
    ClassEnding{"Experts", ModuleKind::experts},
    ClassEnding{"FusedMoE", ModuleKind::experts},
    ClassEnding{"Router", ModuleKind::router},
    ClassEnding{"Gate", ModuleKind::router},
    ClassEnding{"MoeBlock", ModuleKind::moe},
    ClassEnding{"MoE", ModuleKind::moe},
    ClassEnding{"Moe", ModuleKind::moe},
    ClassEnding{"Embedding", ModuleKind::embedding},
    ClassEnding{"Activation", ModuleKind::activation},
    ClassEnding{"SiLU", ModuleKind::activation},
    ClassEnding{"GELU", ModuleKind::activation},
    ClassEnding{"GELUTanh", ModuleKind::activation},
    ClassEnding{"ReLU", ModuleKind::activation},
    ClassEnding{"AndMul", ModuleKind::activation},
    ClassEnding{"Linear", ModuleKind::linear},
    ClassEnding{"Conv1D", ModuleKind::linear},
    ClassEnding{"LMHead", ModuleKind::linear},
    ClassEnding{"DeltaNet", ModuleKind::recurrence},
    ClassEnding{"Mamba2Mixer", ModuleKind::recurrence},
    ClassEnding{"MambaMixer2", ModuleKind::recurrence},
    ClassEnding{"Conv1d", ModuleKind::recurrence},
    ClassEnding{"Indexer", ModuleKind::indexer},
    ClassEnding{"IndexerScorer", ModuleKind::indexer},
    ClassEnding{"Compressor", ModuleKind::compressor},
    ClassEnding{"HyperConnection", ModuleKind::hyper_connection},
    ClassEnding{"HyperHead", ModuleKind::hyper_connection},
    ClassEnding{"Attention", ModuleKind::attention},
    ClassEnding{"Attn", ModuleKind::attention},
    ClassEnding{"DecoderLayer", ModuleKind::layer},
    ClassEnding{"EncoderLayer", ModuleKind::layer},
    ClassEnding{"TransformerLayer", ModuleKind::layer},
    ClassEnding{"Block", ModuleKind::layer},
};

constexpr std::array fused_attention = {"qkv_proj", "o_proj"};
constexpr std::array split_attention = {"q_proj", "k_proj", "v_proj", "o_proj"};
constexpr std::array gpt2_attention = {"c_attn", "c_proj"};
constexpr std::array latent_attention = {"q_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj"};
constexpr std::array low_rank_attention = {"q_a_proj", "q_b_proj", "kv_a_proj_with_mqa",
                                           "kv_b_proj", "o_proj"};
constexpr std::array compressed_attention = {"q_a_proj", "q_b_proj", "kv_proj", "o_a_proj",
                                             "o_b_proj"};
constexpr std::array delta_net = {"in_proj_qkvz", "in_proj_ba", "out_proj"};
constexpr std::array split_delta_net = {"in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a",
                                        "out_proj"};
constexpr std::array mamba = {"in_proj", "out_proj"};
constexpr std::array indexer_linears = {"wq_b", "wk", "weights_proj"};
constexpr std::array compressing_linears = {"kv_proj", "gate_proj", "q_b_proj"};
constexpr std::array scorer_linears = {"weights_proj"};
constexpr std::array hyper_connections = {"attn_hc", "ffn_hc"};
constexpr std::array gated_mlp = {"gate_proj", "up_proj", "down_proj"};
constexpr std::array plain_mlp = {"up_proj", "down_proj"};
constexpr std::array gpt2_mlp = {"c_fc", "c_proj"};
constexpr std::array moe_linears = {"gate", "shared_expert_gate"};
constexpr std::array routed_moe_linears = {"shared_expert_gate"};
constexpr std::array shared_experts = {"shared_experts"};
constexpr std::array layer_norms = {"input_layernorm", "post_attention_layernorm"};
constexpr std::array four_layer_norms = {"input_layernorm", "post_attention_layernorm",
                                         "pre_feedforward_layernorm", "post_feedforward_layernorm"};
constexpr std::array attention_norms = {"q_norm", "k_norm"};
constexpr std::array latent_norms = {"q_a_layernorm", "kv_a_layernorm"};
constexpr std::array latent_norm = {"kv_a_layernorm"};

}  // namespace

ModuleKind kind_of_class(std::string_view class_name) {
  if (class_name.find("Rotary") != std::string_view::npos) return ModuleKind::rotary;
  const auto* it = std::ranges::find_if(
      endings, [&](const ClassEnding& e) { return class_name.ends_with(e.ending); });
  return it == endings.end() ? ModuleKind::other : it->kind;
}

ModuleKind kind_of_leaf(std::string_view leaf) {
  // DeepSeek's own names of projections: wq_a, wkv, wo_b.
  const bool is_matrix = leaf.starts_with("wq") || leaf.starts_with("wk") ||
                         leaf.starts_with("wo_") || leaf == "wo" || leaf == "wgate";
  if (is_matrix || leaf.ends_with("_proj") || leaf.starts_with("in_proj") || leaf == "lm_head" ||
      leaf.starts_with("c_") || leaf == "fc1" || leaf == "fc2") {
    return ModuleKind::linear;
  }
  if (leaf.ends_with("norm") || leaf.starts_with("ln_")) return ModuleKind::norm;
  if (leaf == "linear_attn" || leaf == "mixer" || leaf == "conv1d") return ModuleKind::recurrence;
  if (leaf == "indexer" || leaf == "scorer") return ModuleKind::indexer;
  if (leaf == "compressor") return ModuleKind::compressor;
  if (leaf == "attn_hc" || leaf == "ffn_hc") return ModuleKind::hyper_connection;
  if (leaf == "self_attn" || leaf == "attn" || leaf == "attention") return ModuleKind::attention;
  if (leaf == "mlp" || leaf == "feed_forward") return ModuleKind::mlp;
  if (leaf == "experts") return ModuleKind::experts;
  if (leaf == "gate" || leaf == "router") return ModuleKind::router;
  if (leaf == "embed_tokens" || leaf == "wte" || leaf == "wpe") return ModuleKind::embedding;
  if (leaf == "rotary_emb") return ModuleKind::rotary;
  if (leaf == "act_fn" || leaf == "act") return ModuleKind::activation;
  const bool is_number =
      !leaf.empty() && std::ranges::all_of(leaf, [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? ModuleKind::layer : ModuleKind::other;
}

const char* name_of_class(std::string_view of, ModuleKind parent) {
  if (of.ends_with("QKVParallelLinear")) return "qkv_proj";
  if (of.ends_with("MergedColumnParallelLinear")) return "gate_up_proj";
  if (of.ends_with("RowParallelLinear")) {
    return parent == ModuleKind::attention ? "o_proj" : "down_proj";
  }
  if (of.ends_with("LMHead")) return "lm_head";
  return nullptr;
}

Names linear_names(ModuleKind parent, std::size_t count, std::string_view parent_class,
                   std::string_view of, bool has_router) {
  const bool is_latent = parent_class.starts_with("Deepseek") || parent_class.starts_with("Kimi");
  if (parent == ModuleKind::attention) {
    if (of == "Conv1D") return count == 2 ? Names(gpt2_attention) : Names();
    if (count == 5 && parent_class.starts_with("DeepseekV4")) return compressed_attention;
    if (count == 5) return low_rank_attention;
    if (count == 4) return is_latent ? Names(latent_attention) : Names(split_attention);
    if (count == 2) return fused_attention;
  } else if (parent == ModuleKind::mlp) {
    if (of == "Conv1D") return count == 2 ? Names(gpt2_mlp) : Names();
    if (count == 3) return gated_mlp;
    if (count == 2) return plain_mlp;
  } else if (parent == ModuleKind::moe && count <= 2) {
    return has_router ? Names(routed_moe_linears) : Names(moe_linears);
  } else if (parent == ModuleKind::recurrence) {
    if (count == 2) return mamba;
    if (count == 3) return delta_net;
    if (count == 5) return split_delta_net;
  } else if (parent == ModuleKind::indexer) {
    if (count == 1) return scorer_linears;
    const bool compresses = parent_class.starts_with("DeepseekV4");
    if (count == 3) return compresses ? Names(compressing_linears) : Names(indexer_linears);
  } else if (parent == ModuleKind::compressor && count == 2) {
    return Names(compressing_linears).first(2);
  }
  return {};
}

Names norm_names(ModuleKind parent, std::size_t count, std::string_view parent_class) {
  const bool is_latent = parent_class.starts_with("Deepseek") || parent_class.starts_with("Kimi");
  if (parent == ModuleKind::layer && count == 2) return layer_norms;
  if (parent == ModuleKind::layer && count == 4) return four_layer_norms;
  if (parent == ModuleKind::attention && count == 2) {
    return is_latent ? Names(latent_norms) : Names(attention_norms);
  }
  if (parent == ModuleKind::attention && count == 1 && is_latent) return latent_norm;
  return {};
}

std::string default_name(ModuleKind kind, ModuleKind parent) {
  switch (kind) {
    case ModuleKind::attention:
      return parent == ModuleKind::attention ? "attn" : "self_attn";
    case ModuleKind::mlp:
      return parent == ModuleKind::moe ? "experts" : "mlp";
    case ModuleKind::moe:
      return "mlp";
    case ModuleKind::experts:
      return "experts";
    case ModuleKind::router:
      return "gate";
    case ModuleKind::norm:
      return "norm";
    case ModuleKind::rotary:
      return "rotary_emb";
    case ModuleKind::embedding:
      return "embed_tokens";
    case ModuleKind::activation:
      return "act_fn";
    case ModuleKind::linear:
      return parent == ModuleKind::other ? "lm_head" : "linear";
    case ModuleKind::layer:
      return "layers";
    case ModuleKind::recurrence:
      return parent == ModuleKind::recurrence ? "conv1d" : "linear_attn";
    case ModuleKind::indexer:
      return parent == ModuleKind::indexer ? "scorer" : "indexer";
    case ModuleKind::compressor:
      return "compressor";
    case ModuleKind::hyper_connection:
      return "hc_head";
    case ModuleKind::other:
      break;
  }
  return "model";
}

Names shared_experts_name() { return shared_experts; }
Names hyper_connection_names() { return hyper_connections; }

}  // namespace halmark::trace
