#include "model/spec/coverage.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "model/spec/config_reader.hpp"
#include "model/spec/model_spec.hpp"

namespace halmark {

namespace {

// Fields that change no operator and no size: training, generation, numerics, choices within a
// kernel, factors that neighbouring operators absorb, and what identifies a file. A field belongs
// here only if every value of it leaves FLOPs, bytes and parameters as they are.

inline constexpr std::string_view harmless_endings[] = {
    "_token_id",    "_token_ids",    "_token_index", "dropout", "_pdrop",
    "dropout_prob", "_jitter_noise", "eps",          "epsilon", "_loss_coef"};

// Settings of towers and prediction modules, which are named as such.
inline constexpr std::string_view harmless_beginnings[] = {
    "vision_", "image_", "img_",       "video_",      "audio_",
    "speech_", "mm_",    "projector_", "multimodal_", "mtp_"};

inline constexpr std::string_view harmless_fields[] = {
    // The file and the library.
    "_attn_implementation", "expert_dtype", "ignore_index", "indexer_rope_interleave",
    "index_share_for_mtp_iteration", "index_skip_topk_offset", "moe_router_dtype", "use_mtp",
    "initial_context_length", "_name_or_path", "_attn_implementation_autoset",
    "attn_implementation", "architectures", "auto_map", "attn_impl", "dtype", "fp32_lm_head",
    "gradient_checkpointing", "is_decoder", "model_type", "name", "name_or_path",
    "quantization_config", "scale_fmt", "tokenizer_class", "torch_dtype", "transformers_version",
    "transformers.js_config", "unsloth_fixed", "unsloth_version", "use_cache", "use_flash_attn",
    "use_fused_rms_norm", "use_fused_swiglu", "use_mamba_kernels", "use_mambapy",
    "use_associative_scan", "verbose", "version", "fuse_attention_qkv", "fuse_attention_ffn",
    "fuse_swiglu", "fuse_linear", "fuse_ln", "fuse_rms_norm", "fuse_softmax_mask",
    "use_flash_attention", "use_recompute", "use_sparse_flash_attn", "use_sparse_head_and_loss_fn",
    "use_var_len_flash_attn", "tensor_parallel_output", "sequence_parallel", "moe_use_aux_free",
    "ep_size", "mlp_hidden_size", "n_ctx", "org_seq_len", "pretraining_tp",
    // Training and generation.
    "aux_loss_alpha", "begin_suppress_tokens", "bad_words_ids", "emb_pdrop", "finetuning_task",
    "id2label", "label2id", "initializer_factor", "initializer_range", "init_device", "init_std",
    "init_config", "embedding_fraction", "layerdrop", "max_length", "max_new_tokens",
    "moe_aux_loss_coeff", "num_labels", "output_attentions", "output_hidden_states",
    "output_router_logits", "prefix", "problem_type", "rescale_prenorm_residual", "return_dict",
    "router_dtype", "seq_aux", "summary_activation", "summary_first_dropout",
    "summary_proj_to_labels", "summary_type", "summary_use_proj", "suppress_tokens",
    "task_specific_params", "temperature", "tie_encoder_decoder", "top_k", "top_p", "torchscript",
    "use_bfloat16", "do_sample", "num_beams", "repetition_penalty", "num_return_sequences",
    "router_z_loss_coef", "router_load_balancing_type", "num_logits_to_keep", "logits_to_keep",
    "moe_loss_weight", "chunk_size_feed_forward", "learned_pos_emb",
    // Positions: which angles, not how many.
    "max_sequence_length", "mrope_section", "original_max_position_embeddings",
    "original_max_position", "rope_interleave", "rope_local_base_freq", "rope_parameters",
    "rope_pct", "rope_ratio", "rope_scaling", "rope_theta", "rotary", "rotary_base",
    "rotary_emb_base", "swa_rope_theta", "compress_rope_theta", "position_embedding_type",
    "max_model_len", "seq_length", "use_dynamic_ntk", "use_logn_attn", "mrope_interleaved",
    "position_embeddings", "rope_3d", "rope_type", "model_max_length", "rope_theta_hybrid",
    // Factors and limits that a neighbouring operator absorbs.
    "attention_multiplier", "attention_value_scale", "attn_scale", "attn_temperature_tuning",
    "dim_model_base", "embedding_multiplier", "floor_scale", "logit_scale", "logits_scaling",
    "query_pre_attn_scalar", "reorder_and_upcast_attn", "residual_in_fp32", "residual_multiplier",
    "routed_scaling_factor", "scale_attn_by_inverse_layer_idx", "scale_attn_weights", "scale_depth",
    "scale_emb", "swiglu_alpha", "swiglu_limit", "add_swa_attention_sink_bias_scale",
    "attention_softmax_in_fp32", "layernorm_full_attention_beta", "moe_norm_min",
    // Which experts, not how many of them.
    "moe_router_use_sigmoid", "n_group", "num_expert_group", "topk_group", "topk_method",
    "use_grouped_topk", "group_limited_topk", "use_routing_bias", "moe_router_enable_expert_bias",
    "moe_gate", "moe_use_hard_gate", "e_score_correction_bias", "norm_expert_weight",
    "moe_gate_act", "routing_method_type",
    // Recurrences: clamps of the step, and the chunk, which the model takes from the user.
    "chunk_size", "mamba_chunk_size", "mamba_hidden_act", "time_step_floor", "time_step_limit",
    "time_step_max", "time_step_min", "mamba_ssm_dtype", "time_step_rank",
    // Windows that use_sliding_window switches on.
    "max_window_layers"};

using Named = std::pair<std::string_view, std::string_view>;

constexpr std::array other_operators = {
    Named{"is_encoder_decoder", "encoder-decoders are not modelled"},
    Named{"add_cross_attention", "attention to another sequence is not modelled"},
    Named{"cross_attention_layers", "attention to another sequence is not modelled"},
    Named{"num_kv_shared_layers", "layers that share keys and values are not modelled"},
    Named{"use_cla", "layers that share keys and values are not modelled"},
    Named{"hidden_size_per_layer_input", "embeddings of every layer are not modelled"},
    Named{"altup_num_inputs", "alternating updates are not modelled"},
    Named{"attn_config.prefix_lm", "attention that sees a prefix whole is not modelled"}};

// Parts beside the decoder, and element-wise work inside its operators.
constexpr std::array not_modelled = {
    Named{"vision_config", "vision tower"},
    Named{"vision_tower", "vision tower"},
    Named{"vision_tower_config", "vision tower"},
    Named{"mm_vision_tower", "vision tower"},
    Named{"vit_config", "vision tower"},
    Named{"visual", "vision tower"},
    Named{"img_processor", "vision tower"},
    Named{"embd_layer", "embedding of images"},
    Named{"audio_config", "audio tower"},
    Named{"audio_encoder", "audio tower"},
    Named{"audio_processor", "audio tower"},
    Named{"encoder_config", "encoder of speech"},
    Named{"whisper_config", "audio tower"},
    Named{"projector_config", "projector into the language tower"},
    Named{"qformer_config", "projector into the language tower"},
    Named{"perceiver_config", "projector into the language tower"},
    Named{"talker_config", "speech output"},
    Named{"token2wav_config", "speech output"},
    Named{"code2wav_config", "speech output"},
    Named{"vision_lora", "low-rank adapters of images"},
    Named{"speech_lora", "low-rank adapters of speech"},
    Named{"attn_logit_softcapping", "cap of attention scores, element-wise inside attention"},
    Named{"final_logit_softcapping", "cap of logits, element-wise behind the head"},
    Named{"clip_qkv", "clamp of q, k and v, element-wise behind their projections"},
    Named{"attn_config.clip_qkv", "clamp of q, k and v, element-wise behind their projections"},
    Named{"add_swa_attention_sink_bias", "attention sinks of windowed layers, a logit per head"},
    Named{"alibi", "ALiBi, an addition inside attention"},
    Named{"attn_config.alibi", "ALiBi, an addition inside attention"}};

constexpr std::array<std::string_view, 5> prediction_fields = {
    "num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules", "num_mtp_layers",
    "mtp_num_layers"};

bool is_harmless(std::string_view path) {
  const std::string_view top = path.substr(0, path.find('.'));
  const std::string_view last = path.substr(path.rfind('.') + 1);
  return std::ranges::find(harmless_fields, top) != std::end(harmless_fields) ||
         std::ranges::any_of(harmless_beginnings, [&](auto b) { return top.starts_with(b); }) ||
         std::ranges::any_of(harmless_endings, [&](auto end) { return last.ends_with(end); });
}

void add(std::vector<std::string>& to, std::string text) {
  if (!contains(to, text)) to.push_back(std::move(text));
}

std::string named(std::string_view what, std::string_view field) {
  return std::string(what) + " (" + std::string(field) + ")";
}

}  // namespace

void refuse_other_operators(const ConfigReader& config) {
  for (const auto& [field, reason] : other_operators) {
    if (config.is_asked(field)) continue;  // its family knows it
    if (config.is_set(field)) config.refuse(field, "is set: " + std::string(reason));
  }
}

void name_the_rest(const ConfigReader& config, bool has_prediction, ModelSpec& spec) {
  const std::vector<std::string> rest = config.not_asked();
  for (const auto& [field, what] : not_modelled) {
    if (config.is_set(field)) add(spec.not_modelled, named(what, field));
  }
  for (const std::string_view field : prediction_fields) {
    if (has_prediction || !config.is_set(field)) continue;
    add(spec.not_modelled, named("multi-token-prediction modules", field));
  }
  const auto is_named = [&](const std::string& path) {
    return contains(not_modelled, path, &Named::first) || contains(prediction_fields, path);
  };
  for (const std::string& path : rest) {
    if (!is_harmless(path) && !is_named(path)) spec.not_read.push_back(path);
  }
}

std::vector<std::string> model_notes(const ModelSpec& spec) {
  std::vector<std::string> out;
  if (!spec.note.empty()) out.push_back("note: " + printable(spec.note));
  for (const std::string& text : spec.assumed) out.push_back("assumed: " + text);
  for (const std::string& text : spec.not_modelled) out.push_back("not modelled: " + text);
  if (!spec.unread_quantization.empty()) {
    out.push_back("quantisation not read: " + spec.unread_quantization);
  }
  std::string unconfirmed = join(spec.unconfirmed, "; ");
  if (!unconfirmed.empty()) {
    out.push_back("not confirmed by a published count, so times are at best known to 20 %: " +
                  unconfirmed);
  }
  std::string fields = join(spec.not_read, ", ", printable);
  if (!fields.empty()) out.push_back("not read, of unknown effect: " + fields);
  return out;
}

std::vector<std::string> model_lines(const ModelSpec& spec) {
  std::vector<std::string> out = model_notes(spec);
  for (std::string& line : out) line.insert(0, "model: ");
  return out;
}

}  // namespace halmark
