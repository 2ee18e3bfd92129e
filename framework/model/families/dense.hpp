// The dense feed-forward network, and the decoders that have it in every layer: Llama, Mistral,
// Phi-3, Qwen2 and Qwen3.
#pragma once

#include <string_view>

#include "model/families/decoder.hpp"

namespace halmark::dense {

// decoder::read_sizes and the width of the feed-forward network. Refuses experts.
void read_sizes(ConfigReader& config, ModelSpec& spec);

// Fields as the configurations of GPT-2 and GPT-J spell them.
void name_as_gpt(ConfigReader& config);
// The width alone, for families that read the rest themselves.
void read_width(ConfigReader& config, ModelSpec& spec);

// gate and up in one linear (or up alone), activation, down; `prefix` sets its operators apart from
// others of the layer. Leaves a partial sum per tensor-parallel rank.
void feed_forward(const ModelSpec& spec, std::int64_t width, std::string_view prefix,
                  GraphBuilder& builder);

// The feed-forward network of width spec.intermediate.
decoder::FeedForward feed_forward_of_layers();

void build(const ModelSpec& spec, GraphBuilder& builder);

// Family::predict: a layer like the last one.
void predict(const ModelSpec& spec, GraphBuilder& builder);

}  // namespace halmark::dense
