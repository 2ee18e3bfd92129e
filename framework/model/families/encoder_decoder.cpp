// Encoder-decoders: T5 (RMSNorm, relative positions, no biases) with LongT5, BART and its line
// (LayerNorm, learned or computed positions: mBART, Marian, Pegasus, M2M-100, Blenderbot, LED) and
// Whisper (convolutions over the spectrum in front). A prefill step is the pass of
// the encoder over its tokens, and makes the keys and values that the decoder sees of them; a
// decode step is one of the decoder. What a step does not execute is held.
#include <algorithm>
#include <array>
#include <string>

#include "model/families/dense.hpp"
#include "model/families/mixers.hpp"
#include "model/spec/model_head.hpp"

namespace halmark {

namespace {

constexpr std::int64_t sides_max = 10'000;

void check_layers(const ConfigReader& config, const char* field, std::int64_t layers) {
  if (layers > sides_max) config.refuse(field, "must lie in 1.." + std::to_string(sides_max));
}

bool is_t5(const ModelSpec& spec) { return spec.architecture.ends_with("t5"); }

void read_t5(ConfigReader& config, ModelSpec& spec) {
  config.also_named("hidden_size", "d_model");
  config.also_named("head_dim", "d_kv");
  config.also_named("num_attention_heads", "num_heads");
  config.also_named("intermediate_size", "d_ff");
  const std::int64_t layers = config.required_size("num_layers");
  check_layers(config, "num_layers", layers);
  config.set_derived("num_hidden_layers", config.size("num_decoder_layers").value_or(layers));
  config.set_default("tie_word_embeddings", true);
  decoder::read_shape(config, spec);
  dense::read_width(config, spec);
  const std::string network = config.text("feed_forward_proj").value_or("relu");
  if (network.starts_with("gated-")) {
    spec.gate = GateKind::gelu_tanh;
  } else {
    config.set_derived("hidden_act", network);
    decoder::read_plain_activation(config, spec, "relu");
  }
  EncoderSpec& encoder = *spec.encoder;
  encoder.layers = layers;
  encoder.heads = spec.heads;
  encoder.intermediate = spec.intermediate;
  encoder.buckets = config.size_or("relative_attention_num_buckets", 32);
  if (spec.architecture == "longt5") {
    // A norm per layer and biases for sums of blocks, which every token sees.
    if (config.is_text("encoder_attention_type", "transient-global")) {
      encoder.held = encoder.layers * spec.hidden + encoder.buckets * encoder.heads;
    }
    encoder.window = 2 * config.size_or("local_radius", 127) + 1;
    config.ignore({"global_block_size"});
  }
  config.ignore({"dense_act_fn", "is_gated_act", "relative_attention_max_distance", "n_positions",
                 "output_past", "scalable_attention", "classifier_dropout"});
}

void read_whisper(ConfigReader& config, ModelSpec& spec) {
  EncoderSpec& encoder = *spec.encoder;
  spec.k_bias = false;
  encoder.mels = config.required_size("num_mel_bins");
  encoder.positions = encoder.tokens = config.required_size("max_source_positions");
  spec.learned_positions = config.required_size("max_target_positions");
  config.ignore({"apply_spec_augment", "mask_feature_length", "mask_feature_min_masks",
                 "mask_feature_prob", "mask_time_length", "mask_time_min_masks", "mask_time_prob",
                 "median_filter_width", "use_weighted_layer_sum", "classifier_proj_size"});
}

// What the types of BART's line have: norms in front of the parts with one at the end, or behind
// them; a norm of the embeddings; positions that are learned, some with two unused ones.
struct BartLine {
  std::string_view type;
  bool pre_norms, embedding_norm, learns_positions;
  std::int64_t unused = 0;
};
constexpr auto bart_line = std::to_array<BartLine>({{"bart", false, true, true, 2},
                                                    {"mbart", true, true, true, 2},
                                                    {"marian", false, false, false},
                                                    {"pegasus", true, false, false},
                                                    {"m2m_100", true, false, false},
                                                    {"blenderbot", true, false, true},
                                                    {"blenderbot-small", false, true, true},
                                                    {"led", false, true, true}});

void read_positions_bart(const ConfigReader& config, const BartLine& line, ModelSpec& spec) {
  EncoderSpec& encoder = *spec.encoder;
  const char* usual = "max_position_embeddings";
  const bool is_led = line.type == "led";
  const auto of_encoder = config.required_size(is_led ? "max_encoder_position_embeddings" : usual);
  const auto of_decoder = config.required_size(is_led ? "max_decoder_position_embeddings" : usual);
  if (!line.learns_positions) return;
  encoder.positions = of_encoder + line.unused;
  spec.learned_positions = of_decoder + line.unused;
}

void read_bart(ConfigReader& config, ModelSpec& spec) {
  const BartLine& line = *std::ranges::find(bart_line, spec.architecture, &BartLine::type);
  read_positions_bart(config, line, spec);
  spec.embedding_norm = line.embedding_norm;
  spec.pre_norms = spec.final_norm = line.pre_norms;
  spec.post_norms = !spec.pre_norms;
  if (line.type == "led") {
    // Projections of the tokens that see everything.
    spec.encoder->held = spec.encoder->layers * 3 * spec.hidden * (spec.hidden + 1);
    const auto windows = config.counts("attention_window").value_or(std::vector<std::int64_t>{});
    spec.encoder->window = windows.empty() ? 0 : windows.front() + 1;
    spec.unconfirmed.push_back("windows of the encoder, priced for tokens without a global one");
  }
  config.ignore({"add_bias_logits", "decoder_vocab_size", "share_encoder_decoder_embeddings",
                 "add_final_layer_norm", "normalize_before", "normalize_embedding",
                 "static_position_embeddings", "force_bos_token_to_be_generated",
                 "extra_pos_embeddings", "classif_dropout"});
}

void read_bart_like(ConfigReader& config, ModelSpec& spec) {
  config.also_named("hidden_size", "d_model");
  config.also_named("num_attention_heads", "decoder_attention_heads");
  config.also_named("intermediate_size", "decoder_ffn_dim");
  config.also_named("hidden_act", "activation_function");
  config.also_named("num_decoder_layers", "decoder_layers");
  const std::int64_t layers = config.required_size("num_decoder_layers");
  check_layers(config, "num_decoder_layers", layers);
  // Files state one side's number here; both are stated under names of their own.
  config.ignore({"num_hidden_layers"});
  spec.encoder->layers = config.required_size("encoder_layers");
  check_layers(config, "encoder_layers", spec.encoder->layers);
  spec.encoder->heads = config.required_size("encoder_attention_heads");
  spec.encoder->intermediate = config.required_size("encoder_ffn_dim");
  config.set_default("tie_word_embeddings", true);
  config.set_derived("num_hidden_layers", layers);
  decoder::read_shape(config, spec);
  spec.layers = layers;
  spec.windows.assign(static_cast<std::size_t>(layers), 0);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "gelu");
  spec.norm = NormKind::layer;
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = true;
  (spec.architecture == "whisper" ? read_whisper : read_bart)(config, spec);
}

void read_encoder_decoder(ConfigReader& config, ModelSpec& spec) {
  if (names_architecture(config, "EncoderModel")) {
    config.refuse("architectures", "names an encoder without its decoder, which is not modelled");
  }
  config.ignore(
      {"is_encoder_decoder", "scale_embedding", "decoder_layerdrop", "encoder_layerdrop"});
  EncoderSpec& encoder = spec.encoder.emplace();
  (is_t5(spec) ? read_t5 : read_bart_like)(config, spec);
  if (encoder.tokens == 0) encoder.tokens = 512;
  if (spec.hidden % encoder.heads != 0 && !is_t5(spec)) {
    config.refuse("encoder_attention_heads", "does not divide d_model");
  }
  spec.unconfirmed.push_back("attention to what an encoder read, priced for " +
                             std::to_string(encoder.tokens) + " tokens of every source");
}

void norm_encoder_decoder(const ModelSpec& spec, const char* name, GraphBuilder& b) {
  b.norm({.name = name,
          .rows = b.tokens(),
          .columns = GraphBuilder::replicated(spec.hidden),
          .kind = spec.norm});
}

LayerMixer of_encoder(const ModelSpec& spec) {
  const EncoderSpec& encoder = *spec.encoder;
  const std::int64_t width = is_t5(spec) ? spec.head_dim : spec.hidden / encoder.heads;
  return {.heads = encoder.heads,
          .kv_heads = encoder.heads,
          .head_dim = width,
          .value_dim = width,
          .window = encoder.window,
          .has_rotary = false,
          .sees_all = true};
}

void convolution_front(const ModelSpec& spec, GraphBuilder& b) {
  const auto convolve = [&](const char* name, std::int64_t channels, const Extent& rows) {
    b.linear({.name = name,
              .rows = rows,
              .columns_in = GraphBuilder::replicated(3 * channels),
              .columns_out = GraphBuilder::replicated(spec.hidden),
              .split = Split::replicated,
              .dtype = b.precision().activation,
              .has_bias = true});
  };
  convolve("convolution_1", spec.encoder->mels, b.tokens() * 2);
  convolve("convolution_2", spec.hidden, b.tokens());
}

// A table of biases per side; of umT5 one per layer.
std::int64_t relative_parameters(const ModelSpec& spec, std::int64_t layers) {
  const EncoderSpec& encoder = *spec.encoder;
  return encoder.buckets * encoder.heads * (spec.architecture == "umt5" ? layers : 1);
}

void emit_encoder(const ModelSpec& spec, GraphBuilder& b) {
  const EncoderSpec& encoder = *spec.encoder;
  b.add_layer(b.begin_layer_type("encoder_front"));
  if (encoder.mels > 0) convolution_front(spec, b);
  if (encoder.positions > 0) {
    b.embedding("encoder_positions", encoder.positions, spec.hidden, Split::replicated);
    b.residual_add("encoder_position_add", spec.hidden);
  }
  if (spec.embedding_norm) norm_encoder_decoder(spec, "encoder_embedding_norm", b);
  b.hold("encoder_relative_positions", relative_parameters(spec, encoder.layers));
  b.hold("encoder_global", encoder.held);
  const std::int32_t type = b.begin_layer_type("encoder");
  const decoder::FeedForward network = {"encoder", [](const ModelSpec& s, GraphBuilder& builder) {
                                          dense::feed_forward(s, s.encoder->intermediate, "",
                                                              builder);
                                        }};
  decoder::emit_layer(spec, of_encoder(spec), network, b);
  for (std::int64_t layer = 0; layer < encoder.layers; ++layer) b.add_layer(type);
  b.add_layer(b.begin_layer_type("encoder_end"));
  if (spec.final_norm) norm_encoder_decoder(spec, "encoder_norm", b);
}

LayerMixer of_memory(const ModelSpec& spec) {
  LayerMixer out = mixer_of(spec, 0);
  out.outside = spec.encoder->tokens;
  return out;
}

// Attention to itself and to what was read, with norms and residuals of their own, and a network.
void emit_decoder(const ModelSpec& spec, GraphBuilder& b) {
  decoder::FeedForward network = dense::feed_forward_of_layers();
  network.before = [](const ModelSpec& s, GraphBuilder& builder) {
    if (s.pre_norms) norm_encoder_decoder(s, "cross_norm", builder);
    mixers::attention_outside(s, of_memory(s), "cross_", builder);
    builder.all_reduce("cross_all_reduce", s.hidden);
    if (s.post_norms) norm_encoder_decoder(s, "cross_post_norm", builder);
    builder.residual_add("cross_residual_add", s.hidden);
  };
  decoder::emit_layer(spec, mixer_of(spec, 0), network, b);
}

// Of one side alone, whatever the split.
std::int64_t parameters_of(const ModelSpec& spec, const GraphBuilder& b,
                           void (*emit)(const ModelSpec&, GraphBuilder&), bool is_layer) {
  GraphBuilder alone = b.of_one_device();
  if (is_layer) alone.add_layer(alone.begin_layer_type("layer"));
  emit(spec, alone);
  return alone.finish().totals.parameters;
}

void build_encoder_decoder(const ModelSpec& spec, GraphBuilder& b) {
  decoder::begin(spec, b);
  const bool decodes = b.phase() == Phase::decode;
  b.hold("decoder_relative_positions", relative_parameters(spec, spec.layers));
  if (decodes) {
    b.hold("encoder_held", parameters_of(spec, b, emit_encoder, false));
    const std::int32_t type = b.begin_layer_type("decoder");
    emit_decoder(spec, b);
    for (std::int64_t layer = 0; layer < spec.layers; ++layer) b.add_layer(type);
  } else {
    emit_encoder(spec, b);
    const std::int64_t whole = parameters_of(spec, b, emit_decoder, true);
    const std::int32_t type = b.begin_layer_type("memory");
    const std::int64_t made = mixers::keys_outside(spec, of_memory(spec), "cross_", b);
    b.hold("decoder_held", whole - made);
    for (std::int64_t layer = 0; layer < spec.layers; ++layer) b.add_layer(type);
  }
  decoder::end(spec, spec.hidden, b);
}

}  // namespace

extern const Family encoder_decoder_family = {
    "encoder_decoder",
    {"t5", "mt5", "umt5", "longt5", "bart", "mbart", "marian", "pegasus", "m2m_100", "blenderbot",
     "blenderbot-small", "led", "whisper"},
    &read_encoder_decoder,
    &build_encoder_decoder};

}  // namespace halmark
