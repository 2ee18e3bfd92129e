// Llama, Mistral and Phi-3: the dense decoder without q/k norm; biases only where the config says
// so.
#include <array>

#include "model/families/dense.hpp"

namespace halmark {

namespace {

constexpr std::array<std::string_view, 3> model_types = {"llama", "mistral", "phi3"};

void read(ConfigReader& config, ModelSpec& spec) {
  dense::read_sizes(config, spec);
  decoder::read_windows(config, spec, true);
  const bool has_bias = config.flag("attention_bias").value_or(false);
  spec.qkv_bias = has_bias;
  spec.o_bias = has_bias;
  spec.mlp_bias = config.flag("mlp_bias").value_or(false);
}

}  // namespace

extern const Family llama_family;
const Family llama_family = {"llama", model_types, &read, &dense::build};

}  // namespace halmark
