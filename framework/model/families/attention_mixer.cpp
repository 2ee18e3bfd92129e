// Attention with a KV cache per head. The cache may have a type of its own; whoever writes a key or
// value last converts it.
#include <array>
#include <span>
#include <string>

#include "kernels/kv_cache.hpp"
#include "model/families/indexer.hpp"
#include "model/families/mixers.hpp"

namespace halmark::mixers {

namespace {

struct Widths {
  Extent heads, kv_heads;
  Extent q, kv, out;  // columns of q_proj's query part, of kv_proj, and into o_proj
};

Widths widths(const LayerMixer& mixer, const GraphBuilder& builder) {
  const Extent heads = builder.split_by_tp(mixer.heads);
  const Extent kv_heads = builder.split_kv_heads(mixer.kv_heads);
  return {.heads = heads,
          .kv_heads = kv_heads,
          .q = heads * mixer.head_dim,
          .kv = kv_heads * (mixer.head_dim + (mixer.key_is_value ? 0 : mixer.value_dim)),
          .out = heads * mixer.value_dim};
}

void projections(const ModelSpec& spec, const LayerMixer& mixer, const Widths& w, GraphBuilder& b) {
  const Dtype dtype = b.precision().qkv;
  const Extent hidden = GraphBuilder::replicated(spec.hidden);
  b.quantize_input("qkv_quantize", b.tokens(), hidden, dtype, Split::replicated);
  const Extent q = w.q * (spec.output_gate ? 2 : 1);
  if (spec.head_gate) {
    b.linear({.name = "head_gate",
              .rows = b.tokens(),
              .columns_in = hidden,
              .columns_out = w.heads,
              .split = Split::head,
              .dtype = b.precision().activation});
  }
  if (spec.fuses_qkv && !mixer.shares_kv && b.stores_alike("q_proj", "kv_proj")) {
    b.linear({.name = "qkv_proj",
              .rows = b.tokens(),
              .columns_in = hidden,
              .columns_out = q + w.kv,
              .dtype = dtype,
              .has_bias = spec.qkv_bias});
    return;
  }
  b.linear({.name = "q_proj",
            .rows = b.tokens(),
            .columns_in = hidden,
            .columns_out = q,
            .dtype = dtype,
            .has_bias = spec.qkv_bias});
  if (mixer.shares_kv) return;
  b.linear({.name = "kv_proj",
            .rows = b.tokens(),
            .columns_in = hidden,
            .columns_out = w.kv,
            .dtype = dtype,
            .has_bias = spec.qkv_bias,
            .biased = spec.k_bias ? Extent{} : w.kv_heads * mixer.value_dim});
}

void norm_heads(const ModelSpec& spec, const LayerMixer& mixer, const Widths& w, GraphBuilder& b) {
  struct Side {
    const char* name;
    Extent heads;
  };
  const std::array<Side, 2> sides = {{{"q_norm", w.heads}, {"k_norm", w.kv_heads}}};
  for (const Side& side : std::span(sides).first(mixer.shares_kv ? 1 : 2)) {
    NormSpec norm = {.name = side.name,
                     .rows = b.tokens() * side.heads,
                     .columns = GraphBuilder::replicated(mixer.head_dim),
                     .kind = spec.qk_norm_kind,
                     .split = Split::head,
                     .has_gain = spec.qk_norm_has_gain};
    // Gains of every head: as many as a row has values, and no sum over ranks.
    if (spec.qk_norm_of_row || spec.qk_norm_of_each_head) {
      norm.rows = b.tokens();
      norm.columns = side.heads * mixer.head_dim;
    }
    b.norm(norm);
  }
  // The mean square of a whole row: one sum for q and one for k, in f32 beside narrower values.
  if (spec.qk_norm_of_row) b.all_reduce("qk_norm_all_reduce", 2);
}

void norm_values(const LayerMixer& mixer, const Widths& w, GraphBuilder& b) {
  b.norm({.name = "v_norm",
          .rows = b.tokens() * w.kv_heads,
          .columns = GraphBuilder::replicated(mixer.value_dim),
          .split = Split::head,
          .has_gain = false});
}

// Rotation writes k in the cache's type, so k needs no append of its own; v is copied, and so is a
// k that is not rotated, or that is quantised behind its rotation.
void rotate_and_append(const ModelSpec& spec, const LayerMixer& mixer, const Widths& w,
                       GraphBuilder& b) {
  const Precision& precision = b.precision();
  if (mixer.shares_kv) {
    if (mixer.has_rotary) {
      b.rope("q_rope", w.heads, mixer.head_dim, spec.rotary_dim, precision.attention);
    }
    return;
  }
  const bool is_quantized = is_quantized_kv(precision.kv_cache);
  const bool copies_keys = !mixer.has_rotary || is_quantized;
  const std::int64_t row_bytes = copies_keys ? b.append_bytes(mixer.head_dim + mixer.value_dim, 2)
                                             : b.append_bytes(mixer.value_dim, 1);
  if (mixer.has_rotary && (is_quantized || precision.attention == precision.kv_cache)) {
    const Extent both = w.heads + w.kv_heads;
    b.rope("rope", both, mixer.head_dim, spec.rotary_dim, precision.attention);
  } else if (mixer.has_rotary) {
    b.rope("q_rope", w.heads, mixer.head_dim, spec.rotary_dim, precision.attention);
    b.rope("k_rope", w.kv_heads, mixer.head_dim, spec.rotary_dim, precision.kv_cache);
  }
  if (!spec.is_causal || mixer.sees_all) return;  // no later step reads them
  b.copy("kv_append", b.tokens() * (w.kv_heads * row_bytes), Split::head);
}

void o_proj(const ModelSpec& spec, const Widths& w, const std::string& prefix, GraphBuilder& b) {
  const Dtype dtype = b.precision().output;
  b.quantize_input(prefix + "o_quantize", b.tokens(), w.out, dtype, Split::column);
  b.linear({.name = prefix + "o_proj",
            .rows = b.tokens(),
            .columns_in = w.out,
            .columns_out = GraphBuilder::replicated(spec.hidden),
            .split = Split::row,
            .dtype = dtype,
            .has_bias = spec.o_bias});
}

}  // namespace

// An output gate multiplies on the way into o_proj and costs no pass of its own; its projection is
// half of q_proj.
void attention(const ModelSpec& spec, const LayerMixer& mixer, GraphBuilder& b) {
  const Widths w = widths(mixer, b);
  if (mixer.outside > 0) return attention_outside(spec, mixer, "", b);
  projections(spec, mixer, w, b);
  const bool is_normed = spec.qk_norm && (mixer.has_rotary || spec.qk_norm_has_gain);
  if (is_normed) norm_heads(spec, mixer, w, b);
  if (spec.v_norm && !mixer.shares_kv) norm_values(mixer, w, b);
  rotate_and_append(spec, mixer, w, b);
  if (spec.indexer && mixer.chosen > 0) indexer::choose_blocks(spec, b);
  b.attention({.name = "attention",
               .heads = w.heads,
               .kv_heads = w.kv_heads,
               .head_dim = mixer.head_dim,
               .window = mixer.window,
               .value_dim = mixer.value_dim,
               .chunk = mixer.chunk,
               .has_sinks = spec.has_sinks,
               .chosen = mixer.chosen,
               .is_causal = !mixer.sees_all,
               .keeps_keys = !mixer.shares_kv});
  if (spec.inner_norms) {
    b.norm({.name = "inner_norm", .rows = b.tokens(), .columns = w.out, .split = Split::head});
    b.all_reduce("inner_norm_all_reduce", 1);
  }
  o_proj(spec, w, "", b);
}

// Made in the step that reads the sequence, and kept; a decode step holds their weights.
std::int64_t keys_outside(const ModelSpec& spec, const LayerMixer& mixer, const std::string& prefix,
                          GraphBuilder& b) {
  const Widths w = widths(mixer, b);
  const Extent biased = spec.k_bias ? w.kv : w.kv_heads * mixer.value_dim;
  const std::int64_t parameters =
      w.kv.whole.constant() * spec.hidden + (spec.qkv_bias ? biased.whole.constant() : 0);
  if (b.phase() == Phase::decode) {
    b.hold(prefix + "kv_proj_held", parameters);
  } else {
    b.linear({.name = prefix + "kv_proj",
              .rows = b.batch() * mixer.outside,
              .columns_in = GraphBuilder::replicated(spec.hidden),
              .columns_out = w.kv,
              .dtype = b.precision().activation,
              .has_bias = spec.qkv_bias,
              .biased = biased});
  }
  const std::int64_t of_token = kv_row_bytes(b.precision().kv_cache, mixer.head_dim) +
                                kv_row_bytes(b.precision().kv_cache, mixer.value_dim);
  b.cache({.constant_bytes = w.kv_heads * (mixer.outside * of_token)});
  return parameters;
}

void attention_outside(const ModelSpec& spec, const LayerMixer& mixer, const std::string& prefix,
                       GraphBuilder& b) {
  const Widths w = widths(mixer, b);
  const Dtype dtype = b.precision().qkv;
  const Extent hidden = GraphBuilder::replicated(spec.hidden);
  b.quantize_input(prefix + "qkv_quantize", b.tokens(), hidden, dtype, Split::replicated);
  b.linear({.name = prefix + "q_proj",
            .rows = b.tokens(),
            .columns_in = hidden,
            .columns_out = w.q,
            .dtype = dtype,
            .has_bias = spec.qkv_bias});
  keys_outside(spec, mixer, prefix, b);
  if (spec.outside_qk_norm) norm_heads(spec, mixer, w, b);
  b.attention_outside(prefix + "attention", w.heads, w.kv_heads, mixer.head_dim, mixer.outside);
  o_proj(spec, w, prefix, b);
}

}  // namespace halmark::mixers
