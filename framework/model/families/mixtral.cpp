// Mixtral: experts in every layer; `intermediate_size` is the width of one.

#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_mixtral(ConfigReader& config, ModelSpec& spec) {
  moe::refuse_unmodelled(config, {});
  decoder::read_sizes(config, spec);
  decoder::read_windows(config, spec, true);
  moe::read_experts(config, spec, "num_local_experts", "intermediate_size");
}

}  // namespace

extern const Family mixtral_family = {"mixtral", {"mixtral"}, &read_mixtral, &moe::build};

}  // namespace halmark
