// BERT and its line (RoBERTa, XLM-R, CamemBERT, DistilBERT): every token sees every other, norms
// behind attention and network, learned positions and token types; a pooler, a head of labels, or a
// transform in front of the table.

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
  return spec.architecture.ends_with("roberta") || spec.architecture == "camembert";
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
  const bool is_bare = spec.labels == 0 && spec.architecture != "distilbert";
  spec.has_pooler = of_sequence || (is_bare && spec.architecture != "electra");
  spec.labels_bias = spec.labels > 0;
}

void read_bert(ConfigReader& config, ModelSpec& spec) {
  name_as_distilbert(config);
  config.set_default("tie_word_embeddings", true);
  decoder::read_shape(config, spec);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "gelu");
  if (config.size("embedding_size").value_or(spec.hidden) != spec.hidden) {
    config.refuse("embedding_size",
                  "is not hidden_size: embeddings of another width are not "
                  "modelled");
  }
  if (config.is_text("position_embedding_type", "absolute") ||
      !config.has("position_embedding_type")) {
    spec.learned_positions = config.required_size("max_position_embeddings");
  } else {
    config.refuse("position_embedding_type", "is not 'absolute', which is modelled");
  }
  if (has_offset(spec)) spec.max_position = spec.learned_positions - 2;
  spec.segments =
      spec.architecture == "distilbert" ? 0 : config.count("type_vocab_size").value_or(2);
  spec.norm = NormKind::layer;
  spec.pre_norms = spec.final_norm = spec.is_causal = false;
  spec.post_norms = spec.embedding_norm = true;
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = true;
  read_head_bert(config, spec);
  config.ignore({"sinusoidal_pos_embds", "qa_dropout", "seq_classif_dropout", "directionality",
                 "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
                 "pooler_size_per_head", "pooler_type", "tie_weights_", "summary_last_dropout",
                 "generator_hidden_size"});
}

}  // namespace

extern const Family bert_family = {
    "bert",
    {"bert", "roberta", "xlm-roberta", "camembert", "distilbert", "electra", "ernie"},
    &read_bert,
    &dense::build};

}  // namespace halmark
