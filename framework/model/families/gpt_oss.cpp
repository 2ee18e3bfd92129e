// gpt-oss: experts in every layer, windows in every other one, attention sinks, and biases on every
// linear: projections, router and experts. Its clamped gate costs what silu does.

#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_gpt_oss(ConfigReader& config, ModelSpec& spec) {
  config.also_named("num_experts_per_tok", "experts_per_token");
  config.also_named("num_local_experts", "num_experts");
  moe::refuse_unmodelled(config, {});
  decoder::read_sizes(config, spec);
  if (config.has("layer_types")) {
    decoder::read_windows(config, spec, true);
  } else {
    const std::int64_t window = config.required_size("sliding_window");
    for (std::size_t i = 0; i < spec.windows.size(); i += 2) spec.windows[i] = window;
    config.assume("every other layer has the window, the first included (no layer_types)");
  }
  moe::read_experts(config, spec, "num_local_experts", "intermediate_size");
  spec.qkv_bias = spec.o_bias = config.flag_or("attention_bias", true);
  spec.moe->router_bias = true;
  spec.moe->has_bias = true;
  spec.has_sinks = true;
}

}  // namespace

extern const Family gpt_oss_family = {"gpt_oss", {"gpt_oss"}, &read_gpt_oss, &moe::build};

}  // namespace halmark
