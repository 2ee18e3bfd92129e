// PaLM (2204.02311): attention and a SwiGLU network side by side behind one norm, one KV head, no
// biases anywhere (the norms included), head and embedding in one table.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_palm(ConfigReader& config, ModelSpec& spec) {
  config.set_default("num_key_value_heads", 1);
  config.set_default("tie_word_embeddings", true);
  dense::read_sizes(config, spec);
  spec.norm = NormKind::layer_without_shift;
  spec.is_parallel = config.flag_or("parallel_block", true);
}

}  // namespace

extern const Family palm_family = {"palm", {"palm"}, &read_palm, &dense::build};

}  // namespace halmark
