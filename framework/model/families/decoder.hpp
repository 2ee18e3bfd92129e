// The decoder that the families share: embedding, layers of a mixer and a feed-forward network with
// their norms and residuals, LM head. What differs between families are values of ModelSpec and the
// feed-forward network of each layer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/families/family.hpp"

namespace halmark::decoder {

// Sizes, head counts, rotation, gate, tying: what most decoders have, beside their feed-forward
// network. A family sets its biases and norms afterwards.
void read_sizes(ConfigReader& config, ModelSpec& spec);

// Layers, widths, vocabulary, gate, tying: what every transformer states, whatever its attention
// is.
void read_outline(ConfigReader& config, ModelSpec& spec);

// The parts of read_sizes, for families that do without one. read_shape: layers, widths, heads,
// vocabulary, tying.
void read_shape(ConfigReader& config, ModelSpec& spec);
void read_gate(const ConfigReader& config, ModelSpec& spec);
// Two matrices per feed-forward network and `fallback` (a name of hidden_act) where the
// configuration names no activation.
void read_plain_activation(ConfigReader& config, ModelSpec& spec, std::string_view fallback);
void read_rotary(ConfigReader& config, ModelSpec& spec);
// The share of a head that rotates where the configuration does not say it; before read_rotary.
void default_rotary_share(ConfigReader& config, double share);
void read_rotary_dim(const ConfigReader& config, ModelSpec& spec);  // from `rotary_dim`

// Sliding window of every layer from `sliding_window`, `use_sliding_window`, `max_window_layers`
// and `layer_types`. `enabled_by_default`: whether a stated window counts without
// `use_sliding_window`.
void read_windows(const ConfigReader& config, ModelSpec& spec, bool enabled_by_default);

// Every `period`th layer attends to everything, the others to `sliding_window`, unless the
// configuration has `layer_types` or a pattern of its own.
void read_window_pattern(ConfigReader& config, ModelSpec& spec, std::int64_t period);

// Which layers rotate: `no_rope_layers` (1 = rotates), else all but every
// `no_rope_layer_interval`th.
std::vector<bool> read_rotating_layers(const ConfigReader& config, const ModelSpec& spec);

// `layer_types` of the configuration, one of `known` per layer; nothing when it has none.
std::optional<std::vector<std::string>> read_layer_types(
    const ConfigReader& config, const ModelSpec& spec,
    std::initializer_list<std::string_view> known);

// A list with one entry per layer, or a refusal with both counts.
void check_layer_count(const ConfigReader& config, const ModelSpec& spec, std::string_view field,
                       std::size_t entries);

// Of layer types that differ in sizes alone: the second of a name has a number behind it.
std::string numbered(const std::string& name, std::map<std::string, int>& used);

// One entry per layer for ModelSpec::mixers: attention with the heads and windows of the model.
std::vector<LayerMixer> uniform_mixers(const ModelSpec& spec);

// A kind of feed-forward network: the name of the layers that have it, and its operators between
// the norm before it and the all-reduce after it. Without operators the layer is its mixer alone.
struct FeedForward {
  std::string layer_type;
  using Emit = std::function<void(const ModelSpec& spec, GraphBuilder& builder)>;
  Emit emit;
  bool is_reduced = false;  // it sums over the ranks itself
  Emit before = {};         // behind the mixer's residual
  Emit after = {};          // behind the network's
};

// Embedding, every layer with its mixer and the feed-forward network that `choose` gives it, head,
// and the pipeline's exchange.
void build(const ModelSpec& spec, GraphBuilder& builder,
           FeedForward (*choose)(const ModelSpec& spec, std::int64_t layer),
           void (*behind_embedding)(const ModelSpec& spec, GraphBuilder& builder) = nullptr);

// A layer of any mixer and feed-forward network, from its first norm to its last residual.
void emit_layer(const ModelSpec& spec, const LayerMixer& mixer, const FeedForward& ffn,
                GraphBuilder& builder);

// A layer like the last one, as a prediction module has it.
void last_layer(const ModelSpec& spec, GraphBuilder& builder,
                FeedForward (*choose)(const ModelSpec& spec, std::int64_t layer));

// The final norm, the LM head on the rows that need logits, and their collection; names begin with
// `prefix`. `is_shared`: the head's parameters are counted elsewhere.
void head(const ModelSpec& spec, const std::string& prefix, bool is_shared, GraphBuilder& builder);

// What comes before and after the layers: the embedding; the head, and the exchange of
// `boundary_columns` values per token between pipeline stages.
void begin(const ModelSpec& spec, GraphBuilder& builder);
void end(const ModelSpec& spec, std::int64_t boundary_columns, GraphBuilder& builder);

}  // namespace halmark::decoder
