// Llama, Mistral, Phi-3 and Granite: the dense decoder without q/k norm; biases only where the
// config says so; and those that are Llama under another name. Granite's and MiniCPM's multipliers
// are factors of neighbouring operators and cost nothing.
#include <string>

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_llama(ConfigReader& config, ModelSpec& spec) {
  if (spec.architecture == "minicpm") config.set_default("tie_word_embeddings", true);
  dense::read_sizes(config, spec);
  if (spec.architecture.find("bidir") != std::string::npos) spec.is_causal = false;
  decoder::read_windows(config, spec, true);
  const bool has_bias = config.flag("attention_bias").value_or(false);
  spec.qkv_bias = has_bias;
  spec.o_bias = has_bias;
  spec.mlp_bias = config.flag("mlp_bias").value_or(false);
}

}  // namespace

extern const Family llama_family = {
    "llama",
    {"llama", "mistral", "ministral", "ministral3", "phi3", "phi3_v", "phi4mm", "granite", "xverse",
     "Yi", "aquila", "cwm", "helium", "minicpm", "solar", "llama_bidirec", "bidir_mistral",
     "llava_llama", "llava_mistral"},
    &read_llama,
    &dense::build};

}  // namespace halmark
