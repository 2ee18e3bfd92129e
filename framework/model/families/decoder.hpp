// The decoder that the families share: pre-norm, grouped-query attention with rotary embedding, a
// feed-forward network per layer, LM head. What differs between them are flags of ModelSpec and the
// feed-forward network.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/family.hpp"

namespace halmark::decoder {

// Layers, widths, vocabulary, activation, tying: what every transformer states, whatever its
// attention is.
void read_outline(ConfigReader& config, ModelSpec& spec);

// The outline and the head counts: what every decoder has, beside its feed-forward network. A
// family sets its biases and norms afterwards.
void read_sizes(ConfigReader& config, ModelSpec& spec);

// Sliding window of every layer from `sliding_window`, `use_sliding_window`, `max_window_layers`
// and `layer_types`. `enabled_by_default`: whether a stated window counts without
// `use_sliding_window`.
void read_windows(const ConfigReader& config, ModelSpec& spec, bool enabled_by_default);

// A kind of feed-forward network: the name of the layers that have it, and its operators between
// the norm before it and the all-reduce after it.
struct FeedForward {
  std::string_view layer_type;
  void (*emit)(const ModelSpec& spec, GraphBuilder& builder);
};

// What comes before and after the layers: the embedding; the head, and the exchange of
// `boundary_columns` values per token between pipeline stages.
void begin(const ModelSpec& spec, GraphBuilder& builder);
void end(const ModelSpec& spec, std::int64_t boundary_columns, GraphBuilder& builder);

// Embedding, every layer with the feed-forward network that `choose` gives it, head, and the
// pipeline's exchange.
void build(const ModelSpec& spec, GraphBuilder& builder,
           FeedForward (*choose)(const ModelSpec& spec, std::int64_t layer));

}  // namespace halmark::decoder
