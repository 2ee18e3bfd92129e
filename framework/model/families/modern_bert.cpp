// Encoders with rotation: ModernBERT (gates of gelu, LayerNorm without shift, two layers of three
// within a window), Nomic BERT (gates of silu, norms behind), GTE (gates of gelu, norms behind) and
// EuroBERT (Llama in both directions).
#include <algorithm>

#include "core/lists.hpp"
#include "model/families/dense.hpp"
#include "model/spec/model_head.hpp"

namespace halmark {

namespace {

void read_windows_modernbert(ConfigReader& config, ModelSpec& spec) {
  const std::int64_t period = config.size_or("global_attn_every_n_layers", 3);
  const std::int64_t window = config.size_or("local_attention", 128);
  const auto types =
      decoder::read_layer_types(config, spec, {"sliding_attention", "full_attention"});
  for (const auto i : indices(spec.windows)) {
    const bool is_full = types ? (*types)[i] == "full_attention" : as_int64(i) % period == 0;
    spec.windows[i] = is_full ? 0 : window;
  }
}

void read_modernbert(ConfigReader& config, ModelSpec& spec) {
  config.also_named("hidden_act", "hidden_activation");
  if (config.is_text("hidden_act", "gelu") || !config.has("hidden_act")) {
    spec.gate = GateKind::gelu_tanh;
  } else {
    decoder::read_gate(config, spec);
  }
  spec.norm =
      config.flag("norm_bias").value_or(false) ? NormKind::layer : NormKind::layer_without_shift;
  read_windows_modernbert(config, spec);
  spec.mixers = decoder::uniform_mixers(spec);
  spec.mixers.front().has_norm = false;  // that of the embeddings stands in front of it
  spec.embedding_norm = true;
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
  spec.mlp_bias = config.flag("mlp_bias").value_or(false);
  spec.head_bias =
      config.flag("decoder_bias").value_or(true) && names_architecture(config, "ForMaskedLM");
  config.ignore({"classifier_activation", "classifier_pooling", "deterministic_flash_attn",
                 "global_rope_theta", "local_rope_theta", "reference_compile",
                 "repad_logits_with_grad", "sparse_pred_ignore_index", "sparse_prediction",
                 "norm_eps", "initializer_cutoff_factor", "causal_mask"});
}

void name_as_nomic(ConfigReader& config) {
  dense::name_as_gpt(config);
  config.also_named("partial_rotary_factor", "rotary_emb_fraction");
}

void read_nomic_bert(ConfigReader& config, ModelSpec& spec) {
  spec.gate = GateKind::silu;
  spec.norm = NormKind::layer;
  spec.pre_norms = config.flag("prenorm").value_or(false);
  spec.final_norm = spec.pre_norms;
  spec.post_norms = !spec.pre_norms;
  spec.embedding_norm = true;
  spec.segments = config.count("type_vocab_size").value_or(2);
  spec.qkv_bias = config.flag("qkv_proj_bias").value_or(false);
  spec.o_bias = config.flag("attn_out_bias").value_or(spec.qkv_bias);
  spec.mlp_bias = config.flag("mlp_fc1_bias").value_or(false);
  config.ignore({"hidden_act", "activation_function", "causal", "dense_seq_output", "fused_bias_fc",
                 "fused_dropout_add_ln", "last_layer_subset", "mlp_fc2_bias", "n_positions",
                 "pad_vocab_size_multiple", "parallel_block", "parallel_block_tied_norm",
                 "rotary_emb_interleaved", "rotary_emb_scale_base", "rotary_scaling_factor",
                 "use_rms_norm", "use_xentropy", "max_trained_positions", "expand_type"});
}

void read_gte(ConfigReader& config, ModelSpec& spec) {
  if (!config.is_text("position_embedding_type", "rope")) {
    config.refuse("position_embedding_type", "is not 'rope', which is modelled");
  }
  decoder::read_gate(config, spec);
  spec.norm = NormKind::layer;
  spec.pre_norms = spec.final_norm = false;
  spec.post_norms = spec.embedding_norm = true;
  spec.segments = config.count("type_vocab_size").value_or(0);
  spec.qkv_bias = spec.o_bias = spec.down_bias = true;
  config.ignore({"layer_norm_type", "logn_attention_clip1", "logn_attention_scale", "pack_qkv",
                 "unpad_inputs", "use_memory_efficient_attention"});
}

void read_modern_bert(ConfigReader& config, ModelSpec& spec) {
  const bool is_nomic = spec.architecture == "nomic_bert";
  if (is_nomic) name_as_nomic(config);
  config.set_default("tie_word_embeddings", spec.architecture != "eurobert");
  decoder::read_shape(config, spec);
  decoder::read_rotary(config, spec);
  dense::read_width(config, spec);
  if (spec.architecture == "modernbert") {
    read_modernbert(config, spec);
  } else if (is_nomic) {
    read_nomic_bert(config, spec);
  } else if (spec.architecture == "new") {
    read_gte(config, spec);
  } else {
    decoder::read_gate(config, spec);
    spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
    spec.mlp_bias = config.flag("mlp_bias").value_or(false);
  }
  spec.is_causal = false;
  spec.has_lm_head = names_architecture(config, "ForMaskedLM");
  if (spec.architecture == "modernbert" && spec.has_lm_head) {
    spec.head_transform = true;
    spec.transform_bias = config.flag("classifier_bias").value_or(false);
  }
}

}  // namespace

extern const Family modern_bert_family = {"modern_bert",
                                          {"modernbert", "nomic_bert", "eurobert", "new"},
                                          &read_modern_bert,
                                          &dense::build};

}  // namespace halmark
