// Llama-Nemotron found by architecture search: every block has its own width, its own group of
// query heads per KV head, or no attention at all. A part that is absent has no norm either.
#include <cmath>
#include <string>

#include "core/lists.hpp"
#include "model/families/dense.hpp"

namespace halmark {

namespace {

struct Block {
  std::optional<std::int64_t> heads_in_group;  // nothing: no attention
  std::optional<double> width_factor;          // nothing: no feed-forward network
};

std::int64_t group_of(const ConfigReader& config, std::string_view field, double value,
                      const ModelSpec& spec) {
  const auto group = as_int64(value);
  if (value < 1 || value > as_double(spec.heads) || as_double(group) != value ||
      spec.heads % group != 0) {
    config.refuse(field, "must divide num_attention_heads " + std::to_string(spec.heads));
  }
  return group;
}

void refuse_linear(const ConfigReader& config, std::string_view field, bool is_linear) {
  if (is_linear) config.refuse(field, "replaces a part by a linear layer: not modelled");
}

// The released file: one object per block.
std::vector<Block> blocks_of_objects(const std::vector<ConfigReader>& objects,
                                     const ModelSpec& spec) {
  std::vector<Block> out;
  for (const ConfigReader& object : objects) {
    Block block;
    refuse_linear(object, "attention.replace_with_linear",
                  object.flag("attention.replace_with_linear").value_or(false));
    refuse_linear(object, "ffn.replace_with_linear",
                  object.flag("ffn.replace_with_linear").value_or(false));
    if (!object.flag("attention.no_op").value_or(false)) {
      const auto size = object.size("attention.n_heads_in_group");
      if (!size) object.refuse("attention.n_heads_in_group", "is missing");
      block.heads_in_group = group_of(object, "attention.n_heads_in_group", as_double(*size), spec);
    }
    if (!object.flag("ffn.no_op").value_or(false)) {
      block.width_factor = object.number("ffn.ffn_mult");
      if (!block.width_factor) object.refuse("ffn.ffn_mult", "is missing");
    }
    out.push_back(block);
  }
  return out;
}

// The same as one list per property.
std::vector<Block> blocks_of_lists(const ConfigReader& config, const ModelSpec& spec) {
  const auto numbers = [&](std::string_view field) {
    auto list = config.numbers(field);
    if (!list) config.refuse(field, "is missing, and there are no block_configs");
    decoder::check_layer_count(config, spec, field, list->size());
    return *list;
  };
  const auto flags = [&](std::string_view field) {
    auto list = config.flags(field).value_or(std::vector<bool>(as_size(spec.layers), false));
    decoder::check_layer_count(config, spec, field, list.size());
    return list;
  };
  const auto groups = numbers("block_attention_n_heads_in_group");
  const auto factors = numbers("block_ffn_mult");
  const auto no_attention = flags("block_attention_no_op"), no_ffn = flags("block_ffn_no_op");
  const auto linear_attention = flags("block_attention_replace_with_linear");
  const auto linear_ffn = flags("block_ffn_replace_with_linear");
  std::vector<Block> out;
  for (const auto i : indices(groups)) {
    refuse_linear(config, "block_attention_replace_with_linear", linear_attention[i]);
    refuse_linear(config, "block_ffn_replace_with_linear", linear_ffn[i]);
    if (no_attention[i] == groups[i].has_value()) {
      config.refuse(
          "block_attention_n_heads_in_group",
          "and block_attention_no_op contradict each other in block " + std::to_string(i));
    }
    if (!no_ffn[i] && !factors[i]) {
      config.refuse("block_ffn_mult", "is null in block " + std::to_string(i));
    }
    Block block;
    if (groups[i]) {
      block.heads_in_group = group_of(config, "block_attention_n_heads_in_group", *groups[i], spec);
    }
    if (!no_ffn[i]) block.width_factor = factors[i];
    out.push_back(block);
  }
  return out;
}

// 2/3 of the factor's share of the hidden width, rounded up to a multiple of 256.
std::int64_t ffn_width(const ConfigReader& config, double factor, const ModelSpec& spec) {
  constexpr double factor_max = 1024;
  if (factor <= 0 || factor > factor_max) {
    config.refuse("ffn_mult", "must lie in (0, 1024]");
  }
  const auto width = as_int64(std::floor(2 * factor * as_double(spec.hidden) / 3));
  constexpr std::int64_t multiple = 256;
  return (width + multiple - 1) / multiple * multiple;
}

void read_nemotron_nas(ConfigReader& config, ModelSpec& spec) {
  config.set_derived("num_key_value_heads", config.required_size("num_attention_heads"));
  decoder::read_shape(config, spec);
  decoder::read_gate(config, spec);
  decoder::read_rotary(config, spec);
  const auto objects = config.objects("block_configs");
  const auto blocks = objects ? blocks_of_objects(*objects, spec) : blocks_of_lists(config, spec);
  decoder::check_layer_count(config, spec, "block_configs", blocks.size());
  spec.mixers = decoder::uniform_mixers(spec);
  for (const auto i : indices(blocks)) {
    if (blocks[i].heads_in_group) {
      spec.kv_heads = spec.mixers[i].kv_heads = spec.heads / *blocks[i].heads_in_group;
    } else {
      spec.mixers[i] = {.kind = Mixer::none};
    }
    spec.ffn_widths.push_back(
        blocks[i].width_factor ? ffn_width(config, *blocks[i].width_factor, spec) : 0);
  }
  const bool has_bias = config.flag("attention_bias").value_or(false);
  spec.qkv_bias = spec.o_bias = has_bias;
  spec.mlp_bias = config.flag("mlp_bias").value_or(false);
}

decoder::FeedForward choose_nemotron_nas(const ModelSpec& spec, std::int64_t layer) {
  const std::int64_t width = spec.ffn_widths[as_size(layer)];
  const bool has_attention = mixer_of(spec, layer).kind == Mixer::attention;
  if (width == 0) return {has_attention ? "attention" : "no_op", nullptr};
  return {(has_attention ? "decoder_" : "ffn_") + std::to_string(width),
          [width](const ModelSpec& model, GraphBuilder& b) {
            dense::feed_forward(model, width, "", b);
          }};
}

void build_nemotron_nas(const ModelSpec& spec, GraphBuilder& b) {
  decoder::build(spec, b, choose_nemotron_nas);
}

}  // namespace

extern const Family nemotron_nas_family = {
    "nemotron_nas", {"nemotron-nas"}, &read_nemotron_nas, &build_nemotron_nas};

}  // namespace halmark
