// GPT-Neo: GPT-2 without biases on q, k and v, whose layers see everything and a window in turn.
#include <algorithm>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "model/families/dense.hpp"

namespace halmark {

namespace {

// [[["global", "local"], 12]]: twelve times both.
std::vector<std::string> kinds_of_layers(const ConfigReader& config) {
  if (auto listed = config.texts("attention_layers")) return *listed;
  std::vector<std::string> out;
  const Json* types = config.value("attention_types");
  if (types == nullptr || !types->is_array()) return out;
  constexpr std::int64_t times_max = 10'000;
  for (const Json& type : *types) {
    const bool is_pair = type.is_array() && type.size() == 2 && type[0].is_array() &&
                         type[1].is_number_integer() && type[1] <= times_max;
    if (!is_pair) config.refuse("attention_types", "lists no pairs of kinds and how often");
    for (std::int64_t i = 0; i < type[1].get<std::int64_t>(); ++i) {
      for (const Json& kind : type[0]) out.push_back(kind.is_string() ? kind : Json(""));
    }
  }
  return out;
}

void read_gpt_neo(ConfigReader& config, ModelSpec& spec) {
  config.also_named("num_hidden_layers", "num_layers");
  config.also_named("num_attention_heads", "num_heads");
  config.also_named("hidden_act", "activation_function");
  config.set_default("tie_word_embeddings", true);
  decoder::read_shape(config, spec);
  config.set_default("intermediate_size", 4 * spec.hidden);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "gelu_new");
  spec.learned_positions = config.required_size("max_position_embeddings");
  const std::int64_t window = config.size("window_size").value_or(256);
  const std::vector<std::string> kinds = kinds_of_layers(config);
  if (!kinds.empty()) decoder::check_layer_count(config, spec, "attention_layers", kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) spec.windows[i] = kinds[i] == "local" ? window : 0;
  spec.norm = NormKind::layer;
  spec.o_bias = spec.mlp_bias = true;
}

}  // namespace

extern const Family gpt_neo_family = {"gpt_neo", {"gpt_neo"}, &read_gpt_neo, &dense::build};

}  // namespace halmark
