// Mamba-2 (2405.21060) alone: every layer is a norm and a state space, without attention and
// without a feed-forward network.
#include <string>

#include "model/families/decoder.hpp"

namespace halmark {

namespace {

void read_state_space_mamba2(ConfigReader& config, ModelSpec& spec) {
  StateSpaceSpec& ssm = spec.state_space.emplace();
  ssm.heads = config.required_size("num_heads");
  ssm.head_dim = config.required_size("head_dim");
  ssm.state_dim = config.required_size("state_size");
  ssm.groups = config.required_size("n_groups");
  ssm.kernel = config.required_size("conv_kernel");
  ssm.has_kernel_bias = config.flag("use_conv_bias").value_or(true);
  ssm.has_linear_bias = config.flag("use_bias").value_or(false);
  const std::int64_t width = config.size("expand").value_or(2) * spec.hidden;
  if (width != ssm.width()) {
    config.refuse("num_heads", "x head_dim is " + std::to_string(ssm.width()) +
                                   ", but expand x hidden_size is " + std::to_string(width));
  }
  if (ssm.heads % ssm.groups != 0) {
    config.refuse("n_groups", "is " + std::to_string(ssm.groups) +
                                  ", which does not divide num_heads " + std::to_string(ssm.heads));
  }
}

void read_mamba2(ConfigReader& config, ModelSpec& spec) {
  decoder::read_outline(config, spec);
  read_state_space_mamba2(config, spec);
  config.ignore({"norm_before_gate", "rms_norm"});  // the order within the gated norm
  spec.mixers.assign(static_cast<std::size_t>(spec.layers), {.kind = Mixer::state_space});
}

decoder::FeedForward choose_mamba2(const ModelSpec&, std::int64_t) { return {"mamba", nullptr}; }

void build_mamba2(const ModelSpec& spec, GraphBuilder& b) {
  decoder::build(spec, b, choose_mamba2);
}

}  // namespace

extern const Family mamba2_family = {"mamba2", {"mamba2"}, &read_mamba2, &build_mamba2};

}  // namespace halmark
