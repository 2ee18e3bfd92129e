#include "model/families/decoder.hpp"

#include <cmath>
#include <map>
#include <utility>

#include "core/error.hpp"

namespace halmark::decoder {

namespace {

GateKind read_gate(const ConfigReader& config) {
  const std::string name = config.text("hidden_act").value_or("silu");
  if (name == "silu" || name == "swish") return GateKind::silu;
  if (name == "gelu_pytorch_tanh" || name == "gelu_new") return GateKind::gelu_tanh;
  config.refuse("hidden_act",
                "is '" + printable(name) + "'; known: silu, swish, gelu_pytorch_tanh, gelu_new");
}

void read_heads(ConfigReader& config, ModelSpec& spec) {
  spec.heads = config.required_size("num_attention_heads");
  spec.kv_heads = config.size_or("num_key_value_heads", spec.heads);
  if (spec.heads % spec.kv_heads != 0) {
    config.refuse("num_key_value_heads", "is " + std::to_string(spec.kv_heads) +
                                             ", which does not divide num_attention_heads " +
                                             std::to_string(spec.heads));
  }
  if (!config.has("head_dim") && spec.hidden % spec.heads != 0) {
    config.refuse("head_dim", "is missing and num_attention_heads " + std::to_string(spec.heads) +
                                  " does not divide hidden_size " + std::to_string(spec.hidden));
  }
  spec.head_dim = config.size_or("head_dim", spec.hidden / spec.heads);
  constexpr std::int64_t width_max = std::int64_t{1} << 30;  // k and v together stay below 2^31
  if (spec.head_dim > width_max / spec.heads) {
    config.refuse("head_dim", "is " + std::to_string(spec.head_dim) + ": with " +
                                  std::to_string(spec.heads) + " heads more than " +
                                  std::to_string(width_max) + " columns");
  }
}

void read_rotary(ConfigReader& config, ModelSpec& spec) {
  const double factor = config.number("partial_rotary_factor").value_or(1.0);
  if (factor <= 0 || factor > 1) {
    config.refuse("partial_rotary_factor", "must lie in (0, 1]");
  }
  spec.rotary_dim =
      static_cast<std::int64_t>(std::floor(factor * static_cast<double>(spec.head_dim)));
  if (spec.rotary_dim % 2 != 0 || spec.rotary_dim < 2) {
    config.refuse("head_dim", "gives a rotated width of " + std::to_string(spec.rotary_dim) +
                                  "; an even width >= 2 is expected");
  }
}

}  // namespace

void read_outline(ConfigReader& config, ModelSpec& spec) {
  spec.layers = config.required_size("num_hidden_layers");
  constexpr std::int64_t layers_max = 10'000;
  if (spec.layers > layers_max) {
    config.refuse("num_hidden_layers", "must lie in 1.." + std::to_string(layers_max));
  }
  spec.hidden = config.required_size("hidden_size");
  spec.vocab = config.required_size("vocab_size");
  spec.max_position = config.size("max_position_embeddings");
  spec.gate = read_gate(config);
  spec.rope_scaling = config.has("rope_scaling");
  spec.tied = config.flag_or("tie_word_embeddings", false);
}

void read_sizes(ConfigReader& config, ModelSpec& spec) {
  read_outline(config, spec);
  read_heads(config, spec);
  read_rotary(config, spec);
}

void read_windows(const ConfigReader& config, ModelSpec& spec, bool enabled_by_default) {
  spec.windows.assign(static_cast<std::size_t>(spec.layers), 0);
  const auto window = config.size("sliding_window");
  if (!window || !config.flag("use_sliding_window").value_or(enabled_by_default)) return;

  if (const auto types = config.texts("layer_types")) {
    if (types->size() != spec.windows.size()) {
      config.refuse("layer_types", "lists " + std::to_string(types->size()) +
                                       " layers, but num_hidden_layers is " +
                                       std::to_string(spec.layers));
    }
    for (std::size_t i = 0; i < types->size(); ++i) {
      if ((*types)[i] == "sliding_attention") spec.windows[i] = *window;
    }
    return;
  }
  // Layers below max_window_layers keep full attention.
  const auto first = config.size("max_window_layers").value_or(0);
  for (std::int64_t layer = first; layer < spec.layers; ++layer) {
    spec.windows[static_cast<std::size_t>(layer)] = *window;
  }
}

namespace {

struct Widths {
  Extent heads, kv_heads, q, kv;
};

Widths widths(const ModelSpec& spec, const GraphBuilder& builder) {
  const Extent heads = builder.split_by_tp(spec.heads);
  const Extent kv_heads = builder.split_kv_heads();
  return {.heads = heads,
          .kv_heads = kv_heads,
          .q = {heads.whole * spec.head_dim, heads.local * spec.head_dim},
          .kv = {2 * kv_heads.whole * spec.head_dim, 2 * kv_heads.local * spec.head_dim}};
}

Extent times(Extent a, Extent b) { return {a.whole * b.whole, a.local * b.local}; }

void projections(const ModelSpec& spec, const Widths& w, GraphBuilder& b) {
  const Dtype dtype = b.precision().linear;
  const Extent hidden = GraphBuilder::replicated(spec.hidden);
  b.quantize_input("qkv_quantize", b.tokens(), hidden, dtype, Split::replicated);
  b.linear({.name = "q_proj",
            .rows = b.tokens(),
            .columns_in = hidden,
            .columns_out = w.q,
            .dtype = dtype,
            .has_bias = spec.qkv_bias});
  b.linear({.name = "kv_proj",
            .rows = b.tokens(),
            .columns_in = hidden,
            .columns_out = w.kv,
            .dtype = dtype,
            .has_bias = spec.qkv_bias});
}

// Rotation writes k in the cache's type, so k needs no append of its own; v is copied.
void rotate_and_append(const ModelSpec& spec, const Widths& w, GraphBuilder& b) {
  const Precision& precision = b.precision();
  if (precision.attention == precision.kv_cache) {
    const Extent both = {w.heads.whole + w.kv_heads.whole, w.heads.local + w.kv_heads.local};
    b.rope("rope", both, spec.head_dim, spec.rotary_dim, precision.attention);
  } else {
    b.rope("q_rope", w.heads, spec.head_dim, spec.rotary_dim, precision.attention);
    b.rope("k_rope", w.kv_heads, spec.head_dim, spec.rotary_dim, precision.kv_cache);
  }
  const std::int64_t row_bytes = dtype_bytes(precision.kv_cache, spec.head_dim);
  const Extent heads_bytes = {w.kv_heads.whole * row_bytes, w.kv_heads.local * row_bytes};
  b.copy("kv_append", times(b.tokens(), heads_bytes), Split::head);
}

void attention_block(const ModelSpec& spec, std::int64_t window, GraphBuilder& b) {
  const Widths w = widths(spec, b);
  const Dtype dtype = b.precision().linear;
  b.rmsnorm("input_norm", b.tokens(), spec.hidden, Split::replicated);
  projections(spec, w, b);
  if (spec.qk_norm) {
    b.rmsnorm("q_norm", times(b.tokens(), w.heads), spec.head_dim, Split::head);
    b.rmsnorm("k_norm", times(b.tokens(), w.kv_heads), spec.head_dim, Split::head);
  }
  rotate_and_append(spec, w, b);
  b.attention({.name = "attention",
               .heads = w.heads,
               .kv_heads = w.kv_heads,
               .head_dim = spec.head_dim,
               .window = window});
  b.quantize_input("o_quantize", b.tokens(), w.q, dtype, Split::column);
  b.linear({.name = "o_proj",
            .rows = b.tokens(),
            .columns_in = w.q,
            .columns_out = GraphBuilder::replicated(spec.hidden),
            .split = Split::row,
            .dtype = dtype,
            .has_bias = spec.o_bias});
  b.all_reduce("attention_all_reduce", spec.hidden);
  b.residual_add("attention_residual_add", spec.hidden);
}

// The final norm sees no more rows than the logits need.
void head(const ModelSpec& spec, GraphBuilder& b) {
  const Dtype dtype = b.precision().head;
  const Extent hidden = GraphBuilder::replicated(spec.hidden);
  const Extent rows = b.logit_rows();
  b.set_head(b.begin_layer_type("head"));
  b.rmsnorm("final_norm", rows, spec.hidden, Split::replicated);
  b.quantize_input("lm_head_quantize", rows, hidden, dtype, Split::replicated);
  b.linear({.name = "lm_head",
            .rows = rows,
            .columns_in = hidden,
            .columns_out = b.padded_by_tp(spec.vocab),
            .split = Split::vocab,
            .kind = OperatorKind::head,
            .dtype = dtype,
            .shares_embedding = spec.tied});
  b.all_gather("logits_all_gather", rows, b.padded_by_tp(spec.vocab));
}

}  // namespace

void begin(const ModelSpec& spec, GraphBuilder& b) {
  b.set_embedding(b.begin_layer_type("embedding"));
  b.embedding("embedding", spec.vocab, spec.hidden);
  b.all_reduce("embedding_all_reduce", spec.hidden);
}

void end(const ModelSpec& spec, std::int64_t boundary_columns, GraphBuilder& b) {
  head(spec, b);
  b.set_pipeline(b.begin_layer_type("pipeline"));
  b.send_recv("stage_send_recv", boundary_columns);
}

void build(const ModelSpec& spec, GraphBuilder& b,
           FeedForward (*choose)(const ModelSpec&, std::int64_t)) {
  begin(spec, b);
  // One layer type per feed-forward network and window; nearly always there is one.
  std::map<std::pair<std::string_view, std::int64_t>, std::int32_t> types;
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    const FeedForward ffn = choose(spec, layer);
    const std::int64_t window = spec.windows[static_cast<std::size_t>(layer)];
    const auto [it, is_new] = types.try_emplace({ffn.layer_type, window}, 0);
    if (is_new) {
      it->second = b.begin_layer_type(std::string(ffn.layer_type) + (window > 0 ? "_window" : ""));
      attention_block(spec, window, b);
      b.rmsnorm("post_norm", b.tokens(), spec.hidden, Split::replicated);
      ffn.emit(spec, b);
      b.all_reduce("ffn_all_reduce", spec.hidden);
      b.residual_add("ffn_residual_add", spec.hidden);
    }
    b.add_layer(it->second);
  }
  end(spec, spec.hidden, b);
}

}  // namespace halmark::decoder
