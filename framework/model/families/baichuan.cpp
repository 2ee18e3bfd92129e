// Baichuan and Baichuan 2: Llama with q, k and v in one matrix. The 13 B models have ALiBi, which
// their files say by a length of the tokenizer in the place of positions.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_baichuan(ConfigReader& config, ModelSpec& spec) {
  const bool has_rotary = config.has("max_position_embeddings");
  config.also_named("max_position_embeddings", "model_max_length");
  decoder::read_shape(config, spec);
  decoder::read_gate(config, spec);
  if (has_rotary) decoder::read_rotary(config, spec);
  dense::read_width(config, spec);
  config.ignore({"z_loss_weight"});
}

}  // namespace

extern const Family baichuan_family = {"baichuan", {"baichuan"}, &read_baichuan, &dense::build};

}  // namespace halmark
