// SantaCoder and StarCoder: GPT-2 with one head of keys and values for all.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_gpt_bigcode(ConfigReader& config, ModelSpec& spec) {
  dense::name_as_gpt(config);
  config.set_default("tie_word_embeddings", true);
  if (config.flag("multi_query").value_or(true)) config.set_derived("num_key_value_heads", 1);
  decoder::read_shape(config, spec);
  config.set_derived("intermediate_size", 4 * spec.hidden);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "gelu_pytorch_tanh");
  spec.learned_positions = config.size_or("max_position_embeddings", 1024);
  spec.norm = NormKind::layer;
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = true;
  config.ignore({"attention_softmax_in_fp32", "scale_attention_softmax_in_fp32", "inference_runner",
                 "max_batch_size", "max_sequence_length", "pad_key_length", "pre_allocate_kv_cache",
                 "validate_runner_input", "runner_max_sequence_length"});
}

}  // namespace

extern const Family gpt_bigcode_family = {
    "gpt_bigcode", {"gpt_bigcode"}, &read_gpt_bigcode, &dense::build};

}  // namespace halmark
