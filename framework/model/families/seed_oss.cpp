// Seed-OSS: the dense decoder with biases on q, k and v and, by a switch of its own, on the output.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_seed_oss(ConfigReader& config, ModelSpec& spec) {
  dense::read_sizes(config, spec);
  spec.qkv_bias = config.flag("attention_bias").value_or(true);
  spec.o_bias = config.flag("attention_out_bias").value_or(false);
  spec.mlp_bias = config.flag("mlp_bias").value_or(false);
}

}  // namespace

extern const Family seed_oss_family = {"seed_oss", {"seed_oss"}, &read_seed_oss, &dense::build};

}  // namespace halmark
