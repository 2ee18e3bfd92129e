// GLM-4 and the text sides of GLM-4V as the library spells them: biases on q, k and v, half of
// every head rotated; since GLM-4-0414 also norms behind attention and network.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_glm4(ConfigReader& config, ModelSpec& spec) {
  decoder::default_rotary_share(config, 0.5);
  dense::read_sizes(config, spec);
  spec.post_norms = spec.architecture != "glm";
  spec.qkv_bias = config.flag_or("attention_bias", true);
}

}  // namespace

extern const Family glm4_family = {
    "glm4",
    {"glm", "glm4", "glm4v", "glm4v_text", "glm46v", "glm_ocr", "glm_ocr_text"},
    &read_glm4,
    &dense::build};

}  // namespace halmark
