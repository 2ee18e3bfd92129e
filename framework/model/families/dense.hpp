// The dense decoder that Llama, Mistral, Phi-3, Qwen2 and Qwen3 share: pre-norm, grouped-query
// attention with rotary embedding, gated FFN. What differs between them are flags of ModelSpec.
#pragma once

#include "model/family.hpp"

namespace halmark::dense {

// Sizes, head counts, windows, tying: the fields that every dense decoder has. A family sets its
// biases and norms afterwards.
void read_sizes(ConfigReader& config, ModelSpec& spec);

// Sliding window of every layer from `sliding_window`, `use_sliding_window`, `max_window_layers`
// and `layer_types`. `enabled_by_default`: whether a stated window counts without
// use_sliding_window.
void read_windows(const ConfigReader& config, ModelSpec& spec, bool enabled_by_default);

void build(const ModelSpec& spec, GraphBuilder& builder);

}  // namespace halmark::dense
