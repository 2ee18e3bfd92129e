// The first Mamba (2312.00752), Falcon Mamba (2410.05355) and Jamba (2403.19887), which mixes its
// layers with attention without rotation and gives every other layer experts.
#include <string>

#include "core/lists.hpp"
#include "model/families/dense.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

// "auto" is a sixteenth of the width, rounded up.
std::int64_t read_rank(const ConfigReader& config, const ModelSpec& spec, std::string_view field) {
  if (config.is_text(field, "auto")) return (spec.hidden + 15) / 16;
  return config.required_size(field);
}

void read_mamba(ConfigReader& config, ModelSpec& spec) {
  decoder::read_outline(config, spec);
  SelectiveScanSpec& scan = spec.selective_scan.emplace();
  // Where both are stated, `expand` is what the class never reads: 16 beside a width of 8192 and a
  // hidden size of 4096 in Falcon Mamba.
  const std::int64_t expanded = config.size("expand").value_or(2) * spec.hidden;
  scan.channels = config.size("intermediate_size").value_or(expanded);
  scan.state_dim = config.required_size("state_size");
  scan.kernel = config.required_size("conv_kernel");
  scan.step_rank = read_rank(config, spec, "time_step_rank");
  scan.has_kernel_bias = config.flag("use_conv_bias").value_or(true);
  scan.has_linear_bias = config.flag("use_bias").value_or(false);
  // Falcon Mamba normalises steps, B and C without weights.
  config.ignore({"mixer_rms_eps", "use_mambapy", "use_falcon_mambapy", "d_inner", "d_model",
                 "n_layer", "ssm_cfg", "rescale_prenorm_residual", "fused_add_norm", "rms_norm",
                 "pad_vocab_size_multiple"});
  spec.mixers.assign(as_size(spec.layers), {.kind = Mixer::selective_scan});
}

decoder::FeedForward choose_nothing(const ModelSpec&, std::int64_t) { return {"mamba", nullptr}; }

void build_mamba(const ModelSpec& spec, GraphBuilder& b) {
  decoder::build(spec, b, choose_nothing);
}

// Every `period`th layer, from `offset` on.
struct Every {
  std::int64_t period, offset;
  bool has(std::int64_t layer) const { return layer % period == offset; }
};

Every read_every(const ConfigReader& config, const std::string& what) {
  const Every out{config.required_size(what + "_layer_period"),
                  config.count(what + "_layer_offset").value_or(0)};
  if (out.offset >= out.period) {
    config.refuse(
        what + "_layer_offset",
        "is " + std::to_string(out.offset) + ": below the period of " + std::to_string(out.period));
  }
  return out;
}

void read_jamba(ConfigReader& config, ModelSpec& spec) {
  decoder::read_shape(config, spec);
  decoder::read_gate(config, spec);
  spec.intermediate = config.required_size("intermediate_size");
  SelectiveScanSpec& scan = spec.selective_scan.emplace();
  scan.channels = config.size("mamba_expand").value_or(2) * spec.hidden;
  scan.state_dim = config.required_size("mamba_d_state");
  scan.kernel = config.required_size("mamba_d_conv");
  scan.step_rank = read_rank(config, spec, "mamba_dt_rank");
  scan.has_kernel_bias = config.flag("mamba_conv_bias").value_or(true);
  scan.has_linear_bias = config.flag("mamba_proj_bias").value_or(false);
  scan.has_inner_norms = true;
  const Every attention = read_every(config, "attn"), experts = read_every(config, "expert");
  const auto layers = as_size(spec.layers);
  spec.mixers = decoder::uniform_mixers(spec);
  const bool has_experts = config.size("num_experts").value_or(1) > 1;
  if (has_experts) {
    moe::read_experts(config, spec, "num_experts", "intermediate_size");
    spec.moe->renormalize = false;  // the weights of the chosen are those of the whole softmax
    spec.is_sparse.assign(layers, false);
  }
  for (const auto i : indices(layers)) {
    const auto layer = as_int64(i);
    spec.mixers[i].has_rotary = false;
    if (!attention.has(layer)) spec.mixers[i] = {.kind = Mixer::selective_scan};
    if (has_experts) spec.is_sparse[i] = experts.has(layer);
  }
  config.ignore({"num_logits_to_keep", "calc_logits_for_entire_prompt", "use_mamba_kernels",
                 "mamba_inner_layernorms", "num_experts_per_tok"});
}

decoder::FeedForward choose_jamba(const ModelSpec& spec, std::int64_t layer) {
  return spec.moe ? moe::feed_forward_of(spec, layer) : dense::feed_forward_of_layers();
}

void build_jamba(const ModelSpec& spec, GraphBuilder& b) { decoder::build(spec, b, choose_jamba); }

}  // namespace

extern const Family mamba_family = {"mamba", {"mamba", "falcon_mamba"}, &read_mamba, &build_mamba};
extern const Family jamba_family = {"jamba", {"jamba"}, &read_jamba, &build_jamba};

}  // namespace halmark
