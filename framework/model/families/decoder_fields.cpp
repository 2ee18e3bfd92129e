// The fields of a configuration that decoders share.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
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
  // Limits on gate or value, and the erf form of gelu, cost what the plain ones do.
  if (name == "silu" || name == "swish" || name == "situ") {
    spec.gate = GateKind::silu;
  } else if (name == "gelu_pytorch_tanh" || name == "gelu_new" || name == "gelu") {
    spec.gate = GateKind::gelu_tanh;
  } else {
    config.refuse("hidden_act",
                  "is '" + printable(name) +
                      "'; known: silu, swish, situ, gelu, gelu_pytorch_tanh, gelu_new");
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
      {"swish", ActivationKind::silu},
      {"relu2", ActivationKind::relu_squared}};
  config.set_default("hidden_act", std::string(fallback));
  const std::string name = config.text("hidden_act").value_or("");
  const auto it = std::ranges::find(known, name, [](const auto& entry) { return entry.first; });
  if (it == std::end(known)) {
    config.refuse("hidden_act", "is '" + printable(name) +
                                    "'; known: relu, gelu, gelu_new, gelu_fast, "
                                    "gelu_pytorch_tanh, silu, swish, relu2");
  }
  spec.plain_activation = it->second;
}

void default_rotary_share(ConfigReader& config, double share) {
  if (config.has("rope_parameters.partial_rotary_factor")) return;
  config.set_default("partial_rotary_factor", share);
}

void read_rotary(ConfigReader& config, ModelSpec& spec) {
  config.also_named("partial_rotary_factor", "rope_parameters.partial_rotary_factor");
  const double factor = config.number("partial_rotary_factor").value_or(1.0);
  if (factor <= 0 || factor > 1) {
    config.refuse("partial_rotary_factor", "must lie in (0, 1]");
  }
  spec.rotary_dim = as_int64(std::floor(factor * as_double(spec.head_dim)));
  if (spec.rotary_dim % 2 != 0 || spec.rotary_dim < 2) {
    config.refuse("head_dim", "gives a rotated width of " + std::to_string(spec.rotary_dim) +
                                  "; an even width >= 2 is expected");
  }
}

void read_rotary_dim(const ConfigReader& config, ModelSpec& spec) {
  spec.rotary_dim = config.required_size("rotary_dim");
  if (spec.rotary_dim <= spec.head_dim && spec.rotary_dim % 2 == 0) return;
  config.refuse("rotary_dim", "is " + std::to_string(spec.rotary_dim) +
                                  "; an even width <= head_dim " + std::to_string(spec.head_dim) +
                                  " is expected");
}

namespace {

// As engines derive it (vllm/config/model.py): yarn extends the length that was trained, linear and
// dynamic the stated one; llama3, longrope and mrope state the extended one, gemma3 its own.
std::optional<std::int64_t> longest_context(const ConfigReader& config) {
  const auto stated = config.size("max_position_embeddings");
  for (const std::string field : {"rope_scaling", "rope_parameters"}) {
    auto type = config.text(field + ".rope_type");
    if (!type) type = config.text(field + ".type");
    const auto factor = config.number(field + ".factor");
    const auto trained = config.size(field + ".original_max_position_embeddings");
    const bool is_yarn = type == "yarn";
    if (!factor || config.is_text("model_type", "gemma3_text") ||
        (!is_yarn && type != "linear" && type != "dynamic")) {
      continue;
    }
    const auto from = is_yarn && trained ? trained : stated;
    if (from) return as_int64(as_double(*from) * *factor);
  }
  return stated;
}

void read_frame(ConfigReader& config, ModelSpec& spec) {
  spec.layers = config.required_size("num_hidden_layers");
  constexpr std::int64_t layers_max = 10'000;
  if (spec.layers > layers_max) {
    config.refuse("num_hidden_layers", "must lie in 1.." + std::to_string(layers_max));
  }
  spec.hidden = config.required_size("hidden_size");
  spec.vocab = config.required_size("vocab_size");
  spec.max_position = longest_context(config);
  spec.windows.assign(as_size(spec.layers), 0);
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
  if (entries == as_size(spec.layers)) return;
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
    if (contains(known, type)) continue;
    std::string names = join(known, ", ");
    config.refuse("layer_types", "lists '" + printable(type) + "'; known here: " + names);
  }
  return types;
}

void read_windows(const ConfigReader& config, ModelSpec& spec, bool enabled_by_default) {
  spec.windows.assign(as_size(spec.layers), 0);
  const auto types = read_layer_types(config, spec, {"sliding_attention", "full_attention"});
  if (!config.flag("use_sliding_window").value_or(enabled_by_default)) {
    return config.ignore({"sliding_window"});
  }
  const auto window = config.count("sliding_window");  // 0 is none
  if (window.value_or(0) == 0) return;

  if (types) {
    for (std::size_t i = 0; i < types->size(); ++i) {
      if ((*types)[i] == "sliding_attention") spec.windows[i] = *window;
    }
    return;
  }
  // Layers below max_window_layers keep full attention.
  const auto first = config.size("max_window_layers").value_or(0);
  for (std::int64_t layer = first; layer < spec.layers; ++layer) {
    spec.windows[as_size(layer)] = *window;
  }
}

namespace {

// "LLLG": the last letter of a period is the layer that sees everything.
std::int64_t period_of(ConfigReader& config, std::int64_t fallback) {
  const char* field = "sliding_window_pattern";
  config.also_named(field, "_sliding_window_pattern");
  if (!config.is_letters(field)) return config.size_or(field, fallback);
  const std::string letters = config.text(field).value_or("");
  if (letters.empty() || letters.find_first_not_of('L') + 1 != letters.size() ||
      letters.back() != 'G') {
    config.refuse(field, "is '" + printable(letters) + "'; a period or letters as LLLG are known");
  }
  return std::ssize(letters);
}

}  // namespace

void read_window_pattern(ConfigReader& config, ModelSpec& spec, std::int64_t period) {
  const auto types = read_layer_types(config, spec, {"sliding_attention", "full_attention"});
  if (types) {
    config.ignore({"sliding_window_pattern", "_sliding_window_pattern"});
  } else {
    period = period_of(config, period);
  }
  const std::int64_t window = config.required_size("sliding_window");
  for (const auto i : indices(spec.windows)) {
    const bool is_full = types ? (*types)[i] == "full_attention" : (as_int64(i) + 1) % period == 0;
    spec.windows[i] = is_full ? 0 : window;
  }
}

std::vector<bool> read_rotating_layers(const ConfigReader& config, const ModelSpec& spec) {
  const auto listed = config.counts("no_rope_layers").value_or(std::vector<std::int64_t>{});
  std::vector<bool> out = mapped(listed, [&](const std::int64_t rotates) { return rotates != 0; });
  if (!out.empty()) {
    config.ignore({"no_rope_layer_interval"});
    check_layer_count(config, spec, "no_rope_layers", out.size());
    return out;
  }
  const std::int64_t interval = config.size("no_rope_layer_interval").value_or(4);
  for (const std::int64_t layer : below(spec.layers)) {
    out.push_back((layer + 1) % interval != 0);
  }
  return out;
}

std::vector<LayerMixer> uniform_mixers(const ModelSpec& spec) {
  std::vector<LayerMixer> out;
  for (const std::int64_t layer : below(spec.layers)) {
    out.push_back(mixer_of(spec, layer));
  }
  return out;
}

}  // namespace halmark::decoder
