// Nemotron-H and Nemotron-3: every layer is one norm and one part: Mamba-2 (M), attention without
// rotation (*), a network of two matrices with relu squared between them (-), or experts of that
// kind (E), which may work in a narrower latent width.
#include <algorithm>
#include <string>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "model/families/dense.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

char letter_of(const ConfigReader& config, const char* field, const std::string& type) {
  static constexpr std::pair<std::string_view, char> known[] = {
      {"mamba", 'M'}, {"attention", '*'},        {"mlp", '-'},
      {"moe", 'E'},   {"linear_attention", 'M'}, {"full_attention", '*'}};
  const auto it = std::ranges::find(known, type, [](const auto& entry) { return entry.first; });
  if (it == std::end(known)) {
    config.refuse(field, "lists '" + printable(type) + "'; known: mamba, attention, mlp, moe");
  }
  return it->second;
}

// One letter per layer, from the pattern or from the list of names.
std::string read_pattern(ConfigReader& config) {
  const auto pattern = config.text("hybrid_override_pattern");
  const auto types = config.texts("layers_block_type");
  std::string listed;
  for (const std::string& type : types.value_or(std::vector<std::string>{})) {
    listed += letter_of(config, "layers_block_type", type);
  }
  if (!pattern && !types) {
    config.refuse("hybrid_override_pattern", "is missing, and so is layers_block_type");
  }
  if (pattern && types && *pattern != listed) {
    config.refuse("layers_block_type", "and hybrid_override_pattern contradict each other");
  }
  const std::string letters = pattern.value_or(listed);
  if (const auto at = letters.find_first_not_of("M*-E"); at != std::string::npos) {
    config.refuse("hybrid_override_pattern",
                  "holds '" + printable(letters.substr(at, 1)) + "'; known: M, *, -, E");
  }
  return letters;
}

void read_state_space_nemotron_h(const ConfigReader& config, ModelSpec& spec) {
  StateSpaceSpec& ssm = spec.state_space.emplace();
  ssm.heads = config.required_size("mamba_num_heads");
  ssm.head_dim = config.required_size("mamba_head_dim");
  ssm.state_dim = config.required_size("ssm_state_size");
  ssm.groups = config.required_size("n_groups");
  ssm.kernel = config.required_size("conv_kernel");
  ssm.has_kernel_bias = config.flag("use_conv_bias").value_or(true);
  ssm.has_linear_bias = config.flag("mamba_proj_bias").value_or(false);
  if (ssm.heads % ssm.groups != 0) {
    config.refuse("n_groups", "is " + std::to_string(ssm.groups) +
                                  ", which does not divide mamba_num_heads " +
                                  std::to_string(ssm.heads));
  }
  const std::string type = config.text("mamba_ssm_cache_dtype").value_or("float32");
  const auto dtype = parse_dtype(type == "float32" ? "f32" : type);
  if (!dtype) config.refuse("mamba_ssm_cache_dtype", "is '" + printable(type) + "', no known type");
  ssm.state_dtype = *dtype;
}

void read_experts_nemotron_h(ConfigReader& config, ModelSpec& spec) {
  moe::read_experts(config, spec, "n_routed_experts", "moe_intermediate_size");
  ExpertSpec& experts = *spec.moe;
  if (const std::int64_t shared = config.count("n_shared_experts").value_or(0); shared > 0) {
    experts.shared_width = shared * config.required_size("moe_shared_expert_intermediate_size");
  }
  experts.latent = config.size("moe_latent_size").value_or(0);
  experts.scoring = RouterScoring::sigmoid;
  experts.renormalize = config.flag_or("norm_topk_prob", true);
}

void read_layers(ConfigReader& config, ModelSpec& spec, const std::string& letters) {
  decoder::check_layer_count(config, spec, "hybrid_override_pattern", std::ssize(letters));
  if (letters.find('E') != std::string::npos) read_experts_nemotron_h(config, spec);
  if (letters.find('M') != std::string::npos) read_state_space_nemotron_h(config, spec);
  if (letters.find('-') != std::string::npos)
    spec.intermediate = config.required_size("intermediate_size");
  spec.mixers = decoder::uniform_mixers(spec);
  spec.is_sparse.assign(letters.size(), false);
  for (const auto i : indices(letters)) {
    if (letters[i] == 'M') spec.mixers[i] = {.kind = Mixer::state_space};
    if (letters[i] == '-' || letters[i] == 'E') spec.mixers[i] = {.kind = Mixer::none};
    spec.is_sparse[i] = letters[i] == 'E';
  }
}

// Inside a prediction module: attention, then a network or experts.
void read_prediction(ConfigReader& config, ModelSpec& spec) {
  if (config.count("num_nextn_predict_layers").value_or(0) == 0) return;
  const char* field = "mtp_hybrid_override_pattern";
  std::string letters = config.text(field).value_or("");
  if (letters.empty()) {
    field = "mtp_layers_block_type";
    for (const std::string& type : config.texts(field).value_or(std::vector<std::string>{})) {
      letters += letter_of(config, field, type);
    }
  }
  if (letters != "*E" && letters != "*-") {
    config.refuse(field, letters.empty() ? "is missing; the layers of a prediction module"
                                         : "is '" + printable(letters) +
                                               "'; attention and then experts or a network (*E, "
                                               "*-) are modelled in a prediction module");
  }
  spec.predicts_sparsely = letters == "*E";
  if (spec.predicts_sparsely && !spec.moe) {
    config.refuse(field, "has experts in a prediction module, and the model has none");
  }
  if (!spec.predicts_sparsely) spec.intermediate = config.required_size("intermediate_size");
}

void read_nemotron_h(ConfigReader& config, ModelSpec& spec) {
  config.also_named("head_dim", "attention_head_dim");
  config.also_named("hidden_act", "mlp_hidden_act");
  const std::string letters = read_pattern(config);
  config.set_derived("num_hidden_layers", std::ssize(letters));
  decoder::read_shape(config, spec);
  config.ignore({"expand", "intermediate_size", "partial_rotary_factor"});
  decoder::read_plain_activation(config, spec, "relu2");
  read_layers(config, spec, letters);
  read_prediction(config, spec);
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
  spec.mlp_bias = config.flag("mlp_bias").value_or(false);
}

// A layer that mixes tokens has no feed-forward network, and the other way round.
decoder::FeedForward choose_nemotron_h(const ModelSpec& spec, std::int64_t layer) {
  switch (mixer_of(spec, layer).kind) {
    case Mixer::attention:
      return {"attention", nullptr};
    case Mixer::state_space:
      return {"mamba", nullptr};
    default:
      break;
  }
  if (spec.is_sparse[as_size(layer)]) {
    return {"moe", moe::feed_forward_of_layers().emit};
  }
  return {"mlp", dense::feed_forward_of_layers().emit};
}

void build_nemotron_h(const ModelSpec& spec, GraphBuilder& b) {
  decoder::build(spec, b, choose_nemotron_h);
}

void predict_nemotron_h(const ModelSpec& spec, GraphBuilder& b) {
  const LayerMixer attention = {
      .kind = Mixer::attention,
      .heads = spec.heads,
      .kv_heads = spec.kv_heads,
      .head_dim = spec.head_dim,
      .value_dim = spec.head_dim,
      .has_rotary = false,
  };
  decoder::emit_layer(
      spec, attention,
      spec.predicts_sparsely ? moe::feed_forward_of_layers() : dense::feed_forward_of_layers(), b);
}

}  // namespace

extern const Family nemotron_h_family = {
    "nemotron_h", {"nemotron_h"}, &read_nemotron_h, &build_nemotron_h, &predict_nemotron_h};

}  // namespace halmark
