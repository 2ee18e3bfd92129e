// The fields of a configuration that decoders share.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text/error.hpp"
#include "model/families/decoder.hpp"

namespace halmark::decoder {

namespace {

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

}  // namespace

void read_gate(const ConfigReader& config, ModelSpec& spec) {
  const std::string name = config.text("hidden_act").value_or("silu");
  if (name == "silu" || name == "swish") {
    spec.gate = GateKind::silu;
  } else if (name == "gelu_pytorch_tanh" || name == "gelu_new") {
    spec.gate = GateKind::gelu_tanh;
  } else {
    config.refuse("hidden_act",
                  "is '" + printable(name) + "'; known: silu, swish, gelu_pytorch_tanh, gelu_new");
  }
}

// The erf form of gelu costs what its tanh form does, to the accuracy of element-wise counts.
void read_plain_activation(ConfigReader& config, ModelSpec& spec, std::string_view fallback) {
  static constexpr std::pair<std::string_view, ActivationKind> known[] = {
      {"relu", ActivationKind::relu},
      {"gelu", ActivationKind::gelu_tanh},
      {"gelu_new", ActivationKind::gelu_tanh},
      {"gelu_fast", ActivationKind::gelu_tanh},
      {"gelu_pytorch_tanh", ActivationKind::gelu_tanh},
      {"silu", ActivationKind::silu},
      {"relu2", ActivationKind::relu_squared}};
  config.set_default("hidden_act", std::string(fallback));
  const std::string name = config.text("hidden_act").value_or("");
  const auto it = std::ranges::find(known, name, [](const auto& entry) { return entry.first; });
  if (it == std::end(known)) {
    config.refuse("hidden_act", "is '" + printable(name) +
                                    "'; known: relu, gelu, gelu_new, gelu_fast, "
                                    "gelu_pytorch_tanh, silu, relu2");
  }
  spec.plain_activation = it->second;
}

void read_rotary(ConfigReader& config, ModelSpec& spec) {
  config.also_named("partial_rotary_factor", "rope_parameters.partial_rotary_factor");
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

namespace {

void read_frame(ConfigReader& config, ModelSpec& spec) {
  spec.layers = config.required_size("num_hidden_layers");
  constexpr std::int64_t layers_max = 10'000;
  if (spec.layers > layers_max) {
    config.refuse("num_hidden_layers", "must lie in 1.." + std::to_string(layers_max));
  }
  spec.hidden = config.required_size("hidden_size");
  spec.vocab = config.required_size("vocab_size");
  spec.max_position = config.size("max_position_embeddings");
  spec.rope_scaling = config.has("rope_scaling");
  spec.windows.assign(static_cast<std::size_t>(spec.layers), 0);
}

}  // namespace

void read_outline(ConfigReader& config, ModelSpec& spec) {
  read_frame(config, spec);
  read_gate(config, spec);
  spec.tied = config.flag_or("tie_word_embeddings", false);
}

void read_shape(ConfigReader& config, ModelSpec& spec) {
  read_frame(config, spec);
  read_heads(config, spec);
  spec.tied = config.flag_or("tie_word_embeddings", false);
}

void read_sizes(ConfigReader& config, ModelSpec& spec) {
  read_shape(config, spec);
  read_gate(config, spec);
  read_rotary(config, spec);
}

void check_layer_count(const ConfigReader& config, const ModelSpec& spec, std::string_view field,
                       std::size_t entries) {
  if (entries == static_cast<std::size_t>(spec.layers)) return;
  config.refuse(field, "lists " + std::to_string(entries) + " layers, but num_hidden_layers is " +
                           std::to_string(spec.layers));
}

std::optional<std::vector<std::string>> read_layer_types(
    const ConfigReader& config, const ModelSpec& spec,
    std::initializer_list<std::string_view> known) {
  auto types = config.texts("layer_types");
  if (!types) return std::nullopt;
  check_layer_count(config, spec, "layer_types", types->size());
  for (const std::string& type : *types) {
    if (std::ranges::find(known, type) != known.end()) continue;
    std::string names;
    for (const std::string_view name : known) {
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    config.refuse("layer_types", "lists '" + printable(type) + "'; known here: " + names);
  }
  return types;
}

void read_windows(const ConfigReader& config, ModelSpec& spec, bool enabled_by_default) {
  spec.windows.assign(static_cast<std::size_t>(spec.layers), 0);
  const auto window = config.size("sliding_window");
  if (!window || !config.flag("use_sliding_window").value_or(enabled_by_default)) return;

  if (const auto types = config.texts("layer_types")) {
    check_layer_count(config, spec, "layer_types", types->size());
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

std::vector<LayerMixer> uniform_mixers(const ModelSpec& spec) {
  std::vector<LayerMixer> out;
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    out.push_back(mixer_of(spec, layer));
  }
  return out;
}

}  // namespace halmark::decoder
