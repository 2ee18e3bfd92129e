// RecurrentGemma (2404.07839): two layers of a gated linear recurrence behind a convolution, then
// one of attention within a window, whose heads share one key and value; networks gated by gelu.

#include "core/numeric/cast.hpp"
#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_recurrent_gemma(ConfigReader& config, ModelSpec& spec) {
  config.also_named("hidden_act", "hidden_activation");
  config.set_default("hidden_act", std::string("gelu_pytorch_tanh"));
  config.set_default("tie_word_embeddings", true);
  decoder::default_rotary_share(config, 0.5);
  dense::read_sizes(config, spec);
  // The field counts both halves of the gated network.
  if (spec.intermediate % 2 != 0) config.refuse("intermediate_size", "is odd");
  spec.intermediate /= 2;
  const std::int64_t width = config.size("lru_width").value_or(spec.hidden);
  if (width % spec.heads != 0) config.refuse("lru_width", "is no multiple of num_attention_heads");
  spec.convolution = ConvolutionSpec{.kernel = config.size_or("conv1d_width", 4),
                                     .has_bias = true,
                                     .recurrent = width,
                                     .blocks = spec.heads};
  spec.windows.assign(as_size(spec.layers), config.size_or("attention_window_size", 2048));
  spec.mixers = decoder::uniform_mixers(spec);
  const auto types = config.texts("block_types")
                         .value_or(std::vector<std::string>{"recurrent", "recurrent", "attention"});
  for (std::size_t i = 0; i < spec.mixers.size(); ++i) {
    const std::string& type = types[i % types.size()];
    if (type != "recurrent" && type != "attention") {
      config.refuse("block_types", "lists other types than recurrent and attention");
    }
    if (type == "recurrent") spec.mixers[i] = {.kind = Mixer::convolution};
  }
  spec.qkv_bias = config.flag("attention_bias").value_or(false);
  spec.o_bias = spec.mlp_bias = true;
  config.ignore({"logits_soft_cap", "embeddings_scale_by_sqrt_dim", "w_init_variance_scale",
                 "final_w_init_variance_scale"});
}

}  // namespace

extern const Family recurrent_gemma_family = {
    "recurrent_gemma", {"recurrent_gemma"}, &read_recurrent_gemma, &dense::build};

}  // namespace halmark
