// The mixture-of-experts feed-forward network and the fields that its families share. What differs
// between families are field names, defaults and which layers have experts.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "model/families/decoder.hpp"

namespace halmark::moe {

// Routed experts from the fields of that name; their width from `width_field`. Every layer has
// experts until read_sparse_layers says otherwise.
void read_experts(ConfigReader& config, ModelSpec& spec, std::string_view count_field,
                  std::string_view width_field);

// Layers without experts: the first `first_k_dense_replace`, those of `mlp_only_layers`, and all
// but every `decoder_sparse_step`th. Reads their width where there are any.
void read_sparse_layers(ConfigReader& config, ModelSpec& spec);

// Refuses what would change the cost of a step and is not modelled, and every field of another
// family's experts that `known` does not list.
void refuse_unmodelled(const ConfigReader& config, std::span<const std::string_view> known);
void refuse_unmodelled(const ConfigReader& config, std::initializer_list<std::string_view> known);

// Routed experts.
decoder::FeedForward feed_forward_of_layers();

// The network of a layer: routed experts, or the dense one.
decoder::FeedForward feed_forward_of(const ModelSpec& spec, std::int64_t layer);

void build(const ModelSpec& spec, GraphBuilder& builder);

// Family::predict: a layer like the last one.
void predict(const ModelSpec& spec, GraphBuilder& builder);

}  // namespace halmark::moe
