// MiniCPM3: latent attention and dense networks.

#include "model/families/dense.hpp"
#include "model/families/latent.hpp"

namespace halmark {

namespace {

void read_minicpm3(ConfigReader& config, ModelSpec& spec) {
  config.set_default("tie_word_embeddings", true);
  // Its file states no width of the values: they are those of a head.
  const std::int64_t heads = config.required_size("num_attention_heads");
  config.set_default("v_head_dim", config.required_size("hidden_size") / heads);
  latent::read_attention(config, spec);
  dense::read_width(config, spec);
  spec.is_sparse.assign(static_cast<std::size_t>(spec.layers), false);
}

}  // namespace

extern const Family minicpm3_family = {"minicpm3", {"minicpm3"}, &read_minicpm3, &latent::build};

}  // namespace halmark
