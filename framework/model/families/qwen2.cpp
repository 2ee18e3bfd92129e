// Qwen2, Qwen2.5, the language towers of their outer models, and MiMo-7B: the dense decoder with
// biases on q, k and v, implied by the model type. MTP modules are no part of a step.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

// MiniCPM-V states its version, and with it the language tower that its fields are of.
void check_version(const ConfigReader& config, const ModelSpec& spec) {
  if (!spec.architecture.starts_with("minicpm")) return;
  config.ignore({"slice_config", "slice_mode", "query_num", "drop_vision_last_layer",
                 "batch_vision_input", "use_image_id"});
  const double version = config.number("version").value_or(0);
  if (version >= 2.59 && version <= 2.61) return;
  config.refuse("version", "is not 2.6, whose language tower is Qwen2's and modelled");
}

void read_qwen2(ConfigReader& config, ModelSpec& spec) {
  check_version(config, spec);
  dense::read_sizes(config, spec);
  // A stated window is off unless use_sliding_window switches it on.
  decoder::read_windows(config, spec, false);
  if (spec.architecture == "mimo") config.also_named("qkv_bias", "attention_bias");
  spec.qkv_bias = config.flag_or("qkv_bias", true);
}

}  // namespace

extern const Family qwen2_family = {
    "qwen2",
    {"qwen2", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text", "qwen2_5_omni_text",
     "mimo", "llava_qwen", "llava_qwen2", "minicpmv", "minicpmo"},
    &read_qwen2,
    &dense::build,
    &dense::predict};

}  // namespace halmark
