// Gemma 3n and 4: embeddings of every layer, layers that read the keys and values of an earlier
// one, values that are the keys, and a dense network beside experts; of Gemma 3n also several
// residual streams (alternating updates) and a low-rank path beside attention.
#include <string>
#include <vector>

#include "core/lists.hpp"
#include "model/families/dense.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

bool is_3n(const ModelSpec& spec) { return spec.architecture.starts_with("gemma3n"); }

std::vector<bool> read_full_layers(const ConfigReader& config, const ModelSpec& spec) {
  const auto types =
      decoder::read_layer_types(config, spec, {"sliding_attention", "full_attention"});
  const std::int64_t period = is_3n(spec) ? 5 : 6;
  std::vector<bool> out;
  for (const std::int64_t layer : below(spec.layers)) {
    out.push_back(types ? (*types)[as_size(layer)] == "full_attention" : (layer + 1) % period == 0);
  }
  if (!is_3n(spec)) out.back() = true;  // as the class forces it
  return out;
}

// What layers that see everything have of their own.
LayerMixer full_mixer(const ConfigReader& config, LayerMixer mixer) {
  mixer.window = 0;
  mixer.head_dim = mixer.value_dim = config.size("global_head_dim").value_or(512);
  if (!config.flag("attention_k_eq_v").value_or(false)) {
    config.ignore({"num_global_key_value_heads"});
    return mixer;
  }
  mixer.key_is_value = true;
  mixer.kv_heads = config.size("num_global_key_value_heads").value_or(mixer.kv_heads);
  if (mixer.heads % mixer.kv_heads != 0) {
    config.refuse("num_global_key_value_heads", "does not divide num_attention_heads");
  }
  return mixer;
}

void read_mixers_gemma(ConfigReader& config, ModelSpec& spec) {
  const std::vector<bool> is_full = read_full_layers(config, spec);
  const std::int64_t shared = config.count("num_kv_shared_layers").value_or(0);
  if (shared >= spec.layers) {
    config.refuse("num_kv_shared_layers", "must be below num_hidden_layers");
  }
  spec.mixers = decoder::uniform_mixers(spec);
  const std::int64_t window = config.required_size("sliding_window");
  for (std::size_t i = 0; i < spec.mixers.size(); ++i) {
    LayerMixer& mixer = spec.mixers[i];
    mixer.window = window;
    if (is_full[i]) {
      mixer.window = 0;
      if (!is_3n(spec)) mixer = full_mixer(config, mixer);
    }
    mixer.shares_kv = as_int64(i) >= spec.layers - shared;
    spec.windows[i] = mixer.window;
  }
}

// One width, or one per layer.
void read_widths(ConfigReader& config, ModelSpec& spec) {
  const auto layers = as_size(spec.layers);
  if (config.is_list("intermediate_size")) {
    spec.ffn_widths = *config.counts("intermediate_size");
    decoder::check_layer_count(config, spec, "intermediate_size", spec.ffn_widths.size());
  } else {
    spec.ffn_widths.assign(layers, config.required_size("intermediate_size"));
  }
  const bool is_double = config.flag("use_double_wide_mlp").value_or(false);
  for (const auto i : indices(layers)) {
    if (spec.ffn_widths[i] == 0) config.refuse("intermediate_size", "holds a width of 0");
    if (is_double && spec.mixers[i].shares_kv) spec.ffn_widths[i] *= 2;
  }
}

void read_layer_inputs(ConfigReader& config, ModelSpec& spec) {
  LayerInputSpec& inputs = spec.layer_inputs.emplace();
  inputs.width = config.count("hidden_size_per_layer_input").value_or(256);
  config.ignore({"vocab_size_per_layer_input"});
  if (inputs.width > 0) inputs.vocab = config.required_size("vocab_size_per_layer_input");
  if (!is_3n(spec)) return;
  inputs.streams = config.size_or("altup_num_inputs", 4);
  inputs.low_rank = config.size_or("laurel_rank", 64);
  config.ignore({"activation_sparsity_pattern", "altup_active_idx", "altup_coef_clip",
                 "altup_correct_scale"});
  spec.unconfirmed.push_back(
      "alternating updates of residual streams (altup_num_inputs), a sparse activation");
}

void read_experts_gemma(ConfigReader& config, ModelSpec& spec) {
  config.ignore({"num_experts", "top_k_experts", "moe_intermediate_size",
                 "expert_intermediate_size", "enable_moe_block"});
  if (!config.flag("enable_moe_block").value_or(false)) return;
  config.also_named("num_experts_per_tok", "top_k_experts");
  config.also_named("moe_intermediate_size", "expert_intermediate_size");
  moe::read_experts(config, spec, "num_experts", "moe_intermediate_size");
  spec.moe->router_bias = true;  // a factor per expert
}

void read_gemma_layers(ConfigReader& config, ModelSpec& spec) {
  config.also_named("hidden_act", "hidden_activation");
  config.set_default("hidden_act", "gelu_pytorch_tanh");
  config.set_default("tie_word_embeddings", true);
  decoder::read_sizes(config, spec);
  spec.rotary_dim = std::min(spec.rotary_dim, spec.head_dim);
  read_mixers_gemma(config, spec);
  read_widths(config, spec);
  read_layer_inputs(config, spec);
  read_experts_gemma(config, spec);
  spec.post_norms = spec.qk_norm = spec.v_norm = true;
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
}

void hidden_norm(const ModelSpec& spec, const char* name, GraphBuilder& b) {
  b.rmsnorm(name, b.tokens(), spec.hidden, Split::replicated);
}

void small_linear(const char* name, std::int64_t in, std::int64_t out, GraphBuilder& b) {
  b.linear({.name = name,
            .rows = b.tokens(),
            .columns_in = GraphBuilder::replicated(in),
            .columns_out = GraphBuilder::replicated(out),
            .split = Split::replicated,
            .dtype = b.precision().activation});
}

// Both read the residual stream; each has norms of its own around it. The router reads a norm whose
// weights are the factors that it multiplies with.
void networks(const ModelSpec& spec, std::int64_t width, GraphBuilder& b) {
  dense::feed_forward(spec, width, "", b);
  if (!spec.moe) return b.all_reduce("ffn_all_reduce", spec.hidden);
  b.all_reduce("dense_all_reduce", spec.hidden);
  hidden_norm(spec, "dense_post_norm", b);
  hidden_norm(spec, "router_norm", b);
  hidden_norm(spec, "expert_norm", b);
  moe::feed_forward_of_layers().emit(spec, b);
  b.all_reduce("expert_all_reduce", spec.hidden);
  hidden_norm(spec, "expert_post_norm", b);
  b.residual_add("expert_add", spec.hidden);
}

// The part of the layer's own embedding, through a gate into the residual stream.
void layer_input(const ModelSpec& spec, GraphBuilder& b) {
  const std::int64_t width = spec.layer_inputs->width;
  if (width == 0) return;
  small_linear("layer_input_gate", spec.hidden, width, b);
  b.gated_activation("layer_input_activation", GraphBuilder::replicated(width), spec.gate);
  small_linear("layer_input_proj", width, spec.hidden, b);
  hidden_norm(spec, "layer_input_norm", b);
  b.residual_add("layer_input_add", spec.hidden);
}

// Streams are predicted from one another and corrected by what the layer made of one of them.
void alternate(const ModelSpec& spec, GraphBuilder& b) {
  const std::int64_t streams = spec.layer_inputs->streams;
  hidden_norm(spec, "stream_norm", b);
  small_linear("stream_router", spec.hidden, streams, b);
  small_linear("stream_predict", streams, streams * streams, b);
  small_linear("stream_correct", streams, streams, b);
  for (const char* name : {"stream_predict_add", "stream_correct_add"}) {
    b.residual_add(name, streams * spec.hidden);
  }
  hidden_norm(spec, "stream_scale", b);
}

void low_rank_path(const ModelSpec& spec, GraphBuilder& b) {
  small_linear("laurel_down", spec.hidden, spec.layer_inputs->low_rank, b);
  small_linear("laurel_up", spec.layer_inputs->low_rank, spec.hidden, b);
  hidden_norm(spec, "laurel_norm", b);
  b.residual_add("laurel_add", spec.hidden);
}

decoder::FeedForward choose_gemma(const ModelSpec& spec, std::int64_t layer) {
  const std::int64_t width = spec.ffn_widths[as_size(layer)];
  const std::string name = std::string(spec.moe ? "decoder_moe" : "decoder") +
                           (width != spec.ffn_widths.front() ? "_" + std::to_string(width) : "");
  const bool has_streams = spec.layer_inputs->streams > 0;
  return {.layer_type = name,
          .emit = [width](const ModelSpec& s, GraphBuilder& b) { networks(s, width, b); },
          .is_reduced = true,
          .before = has_streams ? low_rank_path : nullptr,
          .after =
              [](const ModelSpec& s, GraphBuilder& b) {
                if (s.layer_inputs->streams > 0) alternate(s, b);
                layer_input(s, b);
              }};
}

// Tables of all layers in one, projected from the embedding too; the streams of Gemma 3n begin as
// projections of the embedding and are projected back behind the last layer.
void begin_gemma(const ModelSpec& spec, GraphBuilder& b) {
  const LayerInputSpec& inputs = *spec.layer_inputs;
  if (inputs.width > 0) {
    const std::int64_t all = spec.layers * inputs.width;
    b.embedding("layer_embedding", inputs.vocab, all);
    b.all_reduce("layer_embedding_all_reduce", all);
    small_linear("layer_embedding_proj", spec.hidden, all, b);
    b.rmsnorm("layer_embedding_norm", b.tokens() * spec.layers, inputs.width, Split::replicated);
    b.residual_add("layer_embedding_add", all);
  }
  if (inputs.streams <= 1) return;
  small_linear("streams_begin", spec.hidden, (inputs.streams - 1) * spec.hidden, b);
  small_linear("streams_end", spec.hidden, (inputs.streams - 1) * spec.hidden, b);
}

void build_gemma_layers(const ModelSpec& spec, GraphBuilder& b) {
  decoder::build(spec, b, choose_gemma, begin_gemma);
}

}  // namespace

extern const Family gemma_layers_family = {
    "gemma_layers",
    {"gemma3n", "gemma3n_text", "gemma4", "gemma4_text", "gemma4_unified", "gemma4_unified_text"},
    &read_gemma_layers,
    &build_gemma_layers};

}  // namespace halmark
