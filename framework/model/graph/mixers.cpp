// The verbs of GraphBuilder for what mixes tokens: norms and attention.
#include <array>
#include <utility>

#include "kernels/attention/pairs.hpp"
#include "kernels/kv_cache.hpp"
#include "model/graph/draft.hpp"

namespace halmark {

using draft::number;
using draft::shape;

Dtype GraphBuilder::wide_attention() const {
  return is_quantized_kv(precision().attention) ? precision().activation : precision().attention;
}

// Ranks send each other keys and values as attention reads them: quantised ones are converted where
// they are appended, behind the exchange.
Dtype GraphBuilder::ring_dtype() const {
  return is_quantized_kv(precision().kv_cache) ? wide_attention() : precision().kv_cache;
}

std::int64_t GraphBuilder::append_bytes(std::int64_t values, std::int64_t rows) const {
  const Dtype cache = precision().kv_cache;
  if (!is_quantized_kv(cache)) return dtype_bytes(cache, values);
  const std::int64_t written = dtype_bytes(cache, values) + rows * kv_row_scale_bytes(cache);
  return (dtype_bytes(wide_attention(), values) + written + 1) / 2;
}

void GraphBuilder::norm(const NormSpec& spec) {
  const bool is_rms = spec.kind == NormKind::rms;
  const std::int64_t dtype = number(precision().activation);
  const std::int64_t absent =
      (spec.has_gain ? 0 : 1) +
      (spec.kind == NormKind::layer_without_shift || (!is_rms && !spec.has_gain) ? 1 : 0);
  const std::string dims = shape({spec.rows.whole, spec.columns.whole});
  add({.name = spec.name,
       .kind = OperatorKind::norm,
       .split = spec.split,
       .shape_in = dims,
       .shape_out = dims,
       .missing_parameters = absent * spec.columns.whole.constant()},
      is_rms ? "rmsnorm" : "layernorm", [&](auto side) {
        return Sizing{{"rows", spec.rows.*side},
                      {"cols", spec.columns.*side},
                      {"src_dtype", dtype},
                      {"dst_dtype", dtype}};
      });
}

void GraphBuilder::rmsnorm(std::string name, Extent rows, std::int64_t columns, Split split) {
  norm({.name = std::move(name), .rows = rows, .columns = replicated(columns), .split = split});
}

// Distinct keys that any query of a sequence sees.
Size GraphBuilder::visible_keys(std::int64_t window, std::int64_t chunk) const {
  using Values = std::span<const std::int64_t>;
  const std::array<Size, 3> operands = {new_tokens_, context_, chunk > 0 ? chunk : window};
  if (chunk > 0) {
    return {"chunked_keys", [](Values v) { return chunked_keys(v[0], v[1], v[2]); }, operands};
  }
  return {"window_keys", [](Values v) { return attention_keys(v[0], v[1], true, v[2]); }, operands};
}

// Queries become 8-bit behind their rotation, as keys do on their way into the cache: a copy of the
// mean of both types. Nothing where attention computes in a wider type.
void GraphBuilder::quantize_queries(const AttentionSpec& spec) {
  const Dtype narrow = precision().attention;
  if (!is_quantized_kv(narrow)) return;
  const std::int64_t row_bytes =
      (dtype_bytes(wide_attention(), spec.head_dim) + kv_row_bytes(narrow, spec.head_dim) + 1) / 2;
  copy("q_quantize", tokens() * (spec.heads * row_bytes), Split::head);
}

// `attention` has a reference and kernels, so it is taken wherever it says the same: a chunk that
// holds the whole context is no mask.
void GraphBuilder::attention(const AttentionSpec& spec) {
  const bool is_causal = graph_.spec.is_causal && spec.is_causal;
  // Keys that are chosen cost what as many recent ones do. A window that looks both ways holds as
  // many keys as one that looks back.
  const std::int64_t window = spec.chosen > 0 ? spec.chosen : spec.window;
  const std::int64_t value_dim = spec.value_dim > 0 ? spec.value_dim : spec.head_dim;
  const bool is_plain =
      value_dim == spec.head_dim && (spec.chunk == 0 || !is_any(context_ - spec.chunk));
  ring_exchange(spec.name + "_ring", visible_keys(window, spec.chunk),
                spec.kv_heads * (spec.head_dim + value_dim), ring_dtype());
  quantize_queries(spec);
  const auto sizing = [&](auto side) {
    Sizing params = {{"batch", batch_.*side},
                     {"heads", spec.heads.*side},
                     {"kv_heads", spec.kv_heads.*side},
                     {"head_dim", spec.head_dim},
                     {"new_tokens", new_tokens_},
                     {"context", context_},
                     {"window", window},
                     {"q_dtype", number(precision().attention)},
                     {"kv_dtype", number(precision().kv_cache)},
                     {"dst_dtype", number(precision().activation)}};
    if (is_plain) {
      params.set("causal", is_causal || window > 0 ? 1 : 0);
    } else {
      params.set("value_dim", value_dim);
      params.set("chunk", spec.chunk);
    }
    return params;
  };
  add({.name = spec.name,
       .kind = OperatorKind::attention,
       .split = Split::head,
       .shape_in = shape({batch_.whole, new_tokens_, spec.heads.whole, spec.head_dim}),
       .shape_out = shape({batch_.whole, new_tokens_, spec.heads.whole, value_dim}),
       .bias = spec.has_sinks ? spec.heads : Extent{},
       .bias_dtype = precision().activation},
      is_plain ? "attention" : "masked_attention", sizing);
  if (!spec.keeps_keys || !is_causal) return;
  const std::int64_t of_token = kv_row_bytes(precision().kv_cache, spec.head_dim) +
                                kv_row_bytes(precision().kv_cache, value_dim);
  cache({.entry_bytes = spec.kv_heads * of_token,
         .tokens_max = spec.window > 0 ? spec.window : spec.chunk});
}

void GraphBuilder::attention_outside(std::string name, Extent heads, Extent kv_heads,
                                     std::int64_t head_dim, std::int64_t keys) {
  const std::array<Size, 1> operands = {new_tokens_};
  const Size seen = {"outside_keys " + std::to_string(keys),
                     [keys](std::span<const std::int64_t> v) { return std::max(v[0], keys); },
                     operands};
  op({.name = std::move(name),
      .op = "attention",
      .kind = OperatorKind::elementwise,
      .split = Split::head,
      .shape_in = shape({batch_.whole, new_tokens_, heads.whole, head_dim}),
      .shape_out = shape({batch_.whole, new_tokens_, heads.whole, head_dim})},
     [&](Side side) {
       return Sizing{{"batch", batch_.*side},
                     {"heads", heads.*side},
                     {"kv_heads", kv_heads.*side},
                     {"head_dim", head_dim},
                     {"new_tokens", new_tokens_},
                     {"context", seen},
                     {"causal", 0},
                     {"window", 0},
                     {"q_dtype", number(precision().attention)},
                     {"kv_dtype", number(precision().kv_cache)},
                     {"dst_dtype", number(precision().activation)}};
     });
}

}  // namespace halmark
