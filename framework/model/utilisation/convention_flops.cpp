// FLOPs of one sequence as a convention counts them.
#include <algorithm>

#include "core/numeric/cast.hpp"
#include "core/text/enum_names.hpp"
#include "core/text/error.hpp"
#include "model/utilisation/convention.hpp"

namespace halmark {
namespace {

constexpr auto recomputes = enum_names<Recompute>("none", "selective", "alternate", "full");

}  // namespace

std::string_view recompute_name(Recompute recompute) { return recomputes.of(recompute); }

std::optional<Recompute> parse_recompute(std::string_view text) { return recomputes.parse(text); }

namespace {

// Keys that all new queries see together under a causal window: those still inside it see what
// there is, the others `window` each.
double window_pairs(SequenceLength s, double window) {
  const double inside = std::clamp(window - 1 - s.cached, 0.0, s.new_tokens);
  return inside * s.cached + inside * (inside + 1) / 2 + (s.new_tokens - inside) * window;
}

// Of documents that see themselves alone. Their lengths are known by one figure, which a mask with
// a window does not follow from.
double document_pairs(const Convention& c, SequenceLength s, bool is_windowed) {
  if (s.cached > 0 || c.documents > s.new_tokens) {
    throw refused("convention '" + c.name +
                      "' packs documents into sequences that are shorter than one, or that have "
                      "cached tokens",
                  {},
                  "packed documents are of training: --set documents=whole, or longer sequences");
  }
  switch (c.attention) {
    case AttentionRule::none:
      return 0;
    case AttentionRule::full:
      return s.new_tokens * c.documents;
    case AttentionRule::half:
      return s.new_tokens * c.documents / 2;
    case AttentionRule::causal:
      return s.new_tokens * (c.documents + 1) / 2;
    case AttentionRule::causal_half:
    case AttentionRule::window:
      break;
  }
  if (is_windowed) {
    throw refused("convention '" + c.name +
                      "' has documents of unknown lengths in layers with a window: their pairs "
                      "are not known",
                  {}, "--set attention=half or attention=causal, which leave windows out");
  }
  const double own = c.attention == AttentionRule::window ? 1 : 0;
  return s.new_tokens * (c.documents + own) / 2;
}

double pairs(const Convention& c, SequenceLength s, std::int64_t stated_window) {
  const auto window = as_double(stated_window);
  const bool is_windowed = stated_window > 0 && window < s.new_tokens + s.cached;
  if (c.documents > 0) return document_pairs(c, s, is_windowed);
  const double cached = s.new_tokens * s.cached;
  switch (c.attention) {
    case AttentionRule::none:
      return 0;
    case AttentionRule::full:
      return cached + s.new_tokens * s.new_tokens;
    case AttentionRule::causal:
      return cached + s.new_tokens * (s.new_tokens + 1) / 2;
    case AttentionRule::causal_half:
      if (is_windowed) return window_pairs(s, window);
      return cached + s.new_tokens * s.new_tokens / 2;
    case AttentionRule::half:
      return cached + s.new_tokens * s.new_tokens / 2;
    case AttentionRule::window:
      if (is_windowed) return window_pairs(s, window);
      return cached + s.new_tokens * (s.new_tokens + 1) / 2;
  }
  return 0;
}

// Forward FLOPs of one sequence, in parts that passes multiply differently.
struct Forward {
  double layers = 0;     // products with weights
  double attention = 0;  // scores and values
  double head = 0;
  double embedding = 0;
};

double attention_flops(const FlopShape& shape, SequenceLength s, const Convention& c) {
  if (c.attention == AttentionRule::none) return 0;
  constexpr double softmax_flops = 3;
  double out = shape.own_attention_flops * s.new_tokens;
  if (c.state_space == StateSpaceRule::expanded) {
    out += (shape.expanded_flops - shape.state_space_flops) * s.new_tokens;
  }
  for (const FlopShape::Attention& a : shape.attention) {
    const double of_pair = 2 * a.width + (c.softmax ? softmax_flops * a.heads : 0);
    out += a.layers * of_pair * pairs(c, s, a.window);
  }
  return out;
}

// Parameters stand for the weights, tables that are looked up included where the convention says
// so.
double parameter_flops(const FlopShape& shape, SequenceLength s, const Convention& c) {
  if (shape.parameters <= 0) {
    throw refused("convention '" + c.name + "' needs a parameter count, and none is known");
  }
  double parameters = shape.parameters;
  if (!c.embedding) parameters -= shape.lookup_parameters;
  if (c.lm_head == HeadRule::out) parameters -= shape.head_weights;
  return 2 * parameters * s.new_tokens;
}

Forward forward(const FlopShape& shape, SequenceLength s, const Convention& c) {
  Forward out{.attention = attention_flops(shape, s, c)};
  if (c.flops == FlopsRule::p6) {
    out.layers = parameter_flops(shape, s, c);
    return out;
  }
  double weights = shape.matmul_weights + (c.router ? shape.router_weights : 0);
  if (c.gate == GateRule::silu) weights -= shape.gate_weights;
  if (c.state_space == StateSpaceRule::expanded) {
    weights += shape.expanded_weights - shape.state_space_weights;
  }
  out.layers = 2 * weights * s.new_tokens;
  if (c.lm_head != HeadRule::out) {
    out.head = 2 * shape.head_weights * (c.lm_head == HeadRule::last_position ? 1 : s.new_tokens);
  }
  if (c.embedding) out.embedding = 2 * shape.embedding_weights * s.new_tokens;
  return out;
}

}  // namespace

FlopShape flop_shape(const DecoderFields& f) {
  const std::int64_t head_dim = f.head_dim > 0 ? f.head_dim : f.hidden / f.heads;
  const std::int64_t kv_heads = f.kv_heads > 0 ? f.kv_heads : f.heads;
  const std::int64_t ffn = f.ffn > 0 ? f.ffn : 4 * f.hidden;
  const std::int64_t q = f.heads * head_dim;
  const std::int64_t of_layer =
      f.hidden * (2 * q + 2 * kv_heads * head_dim) + f.ffn_matrices * f.hidden * ffn;
  const auto head = as_double(f.hidden * f.vocab);
  FlopShape out{.matmul_weights = as_double(f.layers * of_layer),
                .head_weights = head,
                .embedding_weights = head,
                .parameters = f.parameters};
  const FlopShape::Attention layers{.layers = as_double(f.layers - f.window_layers),
                                    .width = as_double(2 * q),
                                    .heads = as_double(f.heads)};
  if (layers.layers > 0) out.attention.push_back(layers);
  if (f.window_layers > 0) {
    FlopShape::Attention windowed = layers;
    windowed.layers = as_double(f.window_layers);
    windowed.window = f.window;
    out.attention.push_back(windowed);
  }
  return out;
}

double convention_flops(const FlopShape& shape, SequenceLength sequence,
                        const Convention& convention, Recompute recompute) {
  const Forward f = forward(shape, sequence, convention);
  const PassRule pass = convention.forward_backward;
  const double weights = pass == PassRule::forward ? 1 : pass == PassRule::lora ? 2 : 3;
  const double attention = pass == PassRule::forward ? 1 : 3;
  double out = weights * (f.layers + f.head + f.embedding) + attention * f.attention;
  if (pass == PassRule::lora && convention.adapters) {
    out += 3 * 2 * shape.adapter_weights * sequence.new_tokens;
  }
  if (pass == PassRule::forward || recompute == Recompute::none) return out;
  if (convention.recompute == RecomputeRule::out) return out;
  if (recompute == Recompute::alternate)
    return out + shape.alternate_weights * 2 * sequence.new_tokens;
  out += convention.recompute == RecomputeRule::attention_twice ? attention * f.attention
                                                                : f.attention;
  // p6 does not tell the head from the layers: the whole forward pass is repeated.
  if (recompute == Recompute::full) out += f.layers;
  return out;
}

}  // namespace halmark
