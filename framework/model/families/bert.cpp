// BERT and its line (RoBERTa, XLM-R, DistilBERT, ALBERT, DeBERTa, MPNet, Longformer): every token
// sees every other, norms behind attention and network, learned positions and token types; a
// pooler, a head of labels, or a transform in front of the table.

#include "model/families/dense.hpp"
#include "model/spec/model_head.hpp"

namespace halmark {

namespace {

void name_as_distilbert(ConfigReader& config) {
  config.also_named("hidden_size", "dim");
  config.also_named("num_hidden_layers", "n_layers");
  config.also_named("num_attention_heads", "n_heads");
  config.also_named("intermediate_size", "hidden_dim");
  config.also_named("hidden_act", "activation");
}

// RoBERTa counts positions from behind the padding token's.
bool has_offset(const ModelSpec& spec) {
  return spec.architecture.ends_with("roberta") || spec.architecture == "camembert" ||
         spec.architecture == "data2vec-text";
}

void read_head_bert(const ConfigReader& config, ModelSpec& spec) {
  const bool pretrains = names_architecture(config, "ForPreTraining");
  const bool has_table = pretrains || names_architecture(config, "ForMaskedLM") ||
                         names_architecture(config, "LMHeadModel");
  spec.has_lm_head = false;
  if (pretrains && spec.architecture == "electra") {  // tells replaced tokens from others
    spec.labels = 1;
    spec.label_of_each_token = spec.has_pooler = spec.labels_bias = true;
    return;
  }
  if (has_table) {
    spec.has_lm_head = spec.tied = spec.head_bias = spec.head_transform = true;
    return;
  }
  const bool of_sequence = spec.labels > 0 && !spec.label_of_each_token;
  const bool pools = spec.architecture != "distilbert" && spec.architecture != "electra" &&
                     !spec.architecture.starts_with("deberta");
  spec.has_pooler = of_sequence || (spec.labels == 0 && pools);
  spec.labels_bias = spec.labels > 0;
}

// Learned, relative (DeBERTa, MPNet), or in the scores of attention (ALiBi).
void read_positions_bert(ConfigReader& config, ModelSpec& spec) {
  const std::int64_t positions = config.required_size("max_position_embeddings");
  const bool is_alibi = config.is_text("position_embedding_type", "alibi");
  if (!is_alibi && config.has("position_embedding_type") &&
      !config.is_text("position_embedding_type", "absolute")) {
    config.refuse("position_embedding_type", "is not 'absolute' or 'alibi', which are modelled");
  }
  const bool has_table = config.flag("position_biased_input").value_or(true);
  if (!is_alibi && has_table) spec.learned_positions = positions;
}

// DeBERTa: scores between contents and relative positions, out of a table of its own, whose rows
// every layer projects: with the weights of q and k, or with two matrices more and without a bias
// of k. MPNet: a bias per bucket and head. Longformer: projections of tokens that see everything.
void read_relative_bert(ConfigReader& config, ModelSpec& spec) {
  const std::int64_t h = spec.hidden;
  if (spec.architecture == "longformer") {
    const auto windows = config.counts("attention_window").value_or(std::vector<std::int64_t>{});
    for (std::size_t i = 0; i < spec.windows.size() && i < windows.size(); ++i) {
      spec.windows[i] = windows[i] + 1;
    }
    spec.held = 3 * h * (h + 1);
    spec.unconfirmed.push_back("windows, priced for tokens without a global one");
  }
  if (config.is_text("attention_type", "block_sparse")) {
    spec.unconfirmed.push_back("block-sparse attention, priced as one that sees everything");
  }
  if (spec.architecture == "mpnet") {
    spec.rest_values = config.size_or("relative_attention_num_buckets", 32) * spec.heads;
  }
  if (!spec.architecture.starts_with("deberta") ||
      !config.flag("relative_attention").value_or(false)) {
    return;
  }
  const auto stated = config.number("max_relative_positions").value_or(-1);
  std::int64_t span = stated >= 1 ? static_cast<std::int64_t>(stated)
                                  : config.required_size("max_position_embeddings");
  span = config.count("position_buckets").value_or(0) > 0 ? config.required_size("position_buckets")
                                                          : span;
  spec.rest_values = 2 * span * h;
  if (config.is_text("norm_rel_ebd", "layer_norm")) spec.rest_values += 2 * h;
  if (spec.architecture == "deberta") {
    spec.k_bias = false;
    spec.held = 2 * h * h + h;
  } else if (!config.flag("share_att_key").value_or(false)) {
    spec.held = 2 * h * (h + 1);
  }
  if (const std::int64_t kernel = config.count("conv_kernel_size").value_or(0); kernel > 0) {
    spec.rest_values += kernel * h * h + h + 2 * h;
  }
  spec.unconfirmed.push_back("scores between contents and relative positions");
}

void read_network_bert(ConfigReader& config, ModelSpec& spec) {
  const auto kind = config.text("feed_forward_type").value_or("original");
  if (kind == "original") return decoder::read_plain_activation(config, spec, "gelu");
  if (kind != "geglu") config.refuse("feed_forward_type", "is not 'original' or 'geglu'");
  spec.gate = GateKind::gelu_tanh;
  spec.mlp_bias = false;
  spec.down_bias = true;
}

void read_bert(ConfigReader& config, ModelSpec& spec) {
  name_as_distilbert(config);
  config.set_default("tie_word_embeddings", true);
  decoder::read_shape(config, spec);
  dense::read_width(config, spec);
  const std::int64_t width = config.size("embedding_size").value_or(spec.hidden);
  if (width != spec.hidden) spec.embedding_width = width;
  read_positions_bert(config, spec);
  if (has_offset(spec)) spec.max_position = spec.learned_positions - 2;
  spec.segments = spec.architecture == "distilbert" || spec.architecture == "mpnet"
                      ? 0
                      : config.count("type_vocab_size").value_or(2);
  spec.norm = NormKind::layer;
  spec.pre_norms = spec.final_norm = spec.is_causal = false;
  spec.post_norms = spec.embedding_norm = true;
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = true;
  read_network_bert(config, spec);
  read_relative_bert(config, spec);
  spec.shares_layers = spec.architecture == "albert";
  if (spec.shares_layers && (config.size("num_hidden_groups").value_or(1) != 1 ||
                             config.size("inner_group_num").value_or(1) != 1)) {
    config.refuse("num_hidden_groups", "and inner_group_num are not 1, which is modelled");
  }
  read_head_bert(config, spec);
  config.ignore({"sinusoidal_pos_embds",
                 "qa_dropout",
                 "seq_classif_dropout",
                 "directionality",
                 "pooler_fc_size",
                 "pooler_num_attention_heads",
                 "pooler_num_fc_layers",
                 "pooler_size_per_head",
                 "pooler_type",
                 "tie_weights_",
                 "summary_last_dropout",
                 "generator_hidden_size",
                 "legacy",
                 "pooler_hidden_act",
                 "pooler_dropout",
                 "c2p",
                 "pos_att_type",
                 "conv_act",
                 "down_scale_factor",
                 "gap_size",
                 "net_structure_type",
                 "num_memory_blocks",
                 "sep_token_id",
                 "ignore_attention_mask",
                 "onnx_export",
                 "attn_implementation",
                 "emb_pooler"});
}

}  // namespace

extern const Family bert_family = {
    "bert",
    {"bert", "roberta", "xlm-roberta", "camembert", "distilbert", "electra", "ernie", "albert",
     "mpnet", "longformer", "deberta", "deberta-v2", "big_bird", "data2vec-text"},
    &read_bert,
    &dense::build};

}  // namespace halmark
