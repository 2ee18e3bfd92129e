// Step-3.5 and 3.7 Flash: layers with a window have query heads of their own number, a gate per
// head, experts beside a shared one behind the first layers. Under the names of the first files or
// those of the library.
#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

// Lists of the first files go on over the prediction modules.
void check_padded(const ConfigReader& config, const ModelSpec& spec, const char* field,
                  std::size_t entries) {
  const auto modules = as_size(config.count("num_nextn_predict_layers").value_or(0));
  if (entries == as_size(spec.layers) + modules) return;
  decoder::check_layer_count(config, spec, field, entries);
}

void read_mixers_step3p7(ConfigReader& config, ModelSpec& spec) {
  spec.mixers = decoder::uniform_mixers(spec);
  const auto types = config.texts("layer_types");
  if (!types) return;
  check_padded(config, spec, "layer_types", types->size());
  config.also_named("num_sliding_attention_heads", "attention_other_setting.num_attention_heads");
  config.ignore({"attention_other_setting"});
  const auto heads = config.size("num_sliding_attention_heads");
  if (!heads) {
    spec.unconfirmed.push_back(
        "query heads of windowed layers, which the configuration does not "
        "state: taken as num_attention_heads");
  }
  for (const auto i : indices(spec.mixers)) {
    const std::string& type = (*types)[i];
    if (type != "sliding_attention" && type != "full_attention") {
      config.refuse("layer_types", "lists '" + printable(type) +
                                       "'; known here: sliding_attention, full_attention");
    }
    if (type == "full_attention") continue;
    LayerMixer& mixer = spec.mixers[i];
    mixer.window = spec.windows[i] = config.required_size("sliding_window");
    mixer.heads = heads.value_or(mixer.heads);
    if (mixer.heads % mixer.kv_heads == 0) continue;
    config.refuse("num_sliding_attention_heads", "is no multiple of num_key_value_heads");
  }
}

// "3,4,5" of the first files.
std::vector<std::int64_t> numbers_in(const ConfigReader& config, const char* field) {
  if (config.is_list(field)) return *config.counts(field);
  std::vector<std::int64_t> out;
  std::string text = config.text(field).value_or("");
  std::erase(text, ' ');
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::int64_t number = 0;
    const auto read = std::from_chars(text.data() + at, text.data() + end, number);
    if (read.ec != std::errc() || read.ptr != text.data() + end || number < 0) {
      config.refuse(field, "is '" + printable(text) + "'; numbers of layers are expected");
    }
    out.push_back(number);
    at = end + 1;
  }
  return out;
}

void read_sparse_layers_step3p7(ConfigReader& config, ModelSpec& spec) {
  const auto types = config.texts("mlp_layer_types");
  if (types) check_padded(config, spec, "mlp_layer_types", types->size());
  const bool is_listed = config.has("moe_layers_enum");
  const auto listed = numbers_in(config, "moe_layers_enum");
  const std::int64_t first = config.count("first_k_dense_replace").value_or(3);
  for (const std::int64_t layer : below(spec.layers)) {
    const auto i = as_size(layer);
    spec.is_sparse[i] = types       ? (*types)[i] == "sparse"
                        : is_listed ? contains(listed, layer)
                                    : layer >= first;
    if (!spec.is_sparse[i]) spec.intermediate = config.required_size("intermediate_size");
  }
  config.ignore({"intermediate_size"});
}

void read_step3p7(ConfigReader& config, ModelSpec& spec) {
  config.also_named("num_key_value_heads", "num_attention_groups");
  config.also_named("n_routed_experts", "moe_num_experts");
  config.also_named("n_routed_experts", "num_experts");
  config.also_named("num_experts_per_tok", "moe_top_k");
  config.also_named("share_expert_dim", "share_expert_dims");
  config.also_named("max_position_embeddings", "max_seq_len");
  config.ignore({"scoring_func",
                 "moe_router_activation",
                 "moe_router_scaling_factor",
                 "norm_expert_weight",
                 "partial_rotary_factors",
                 "rope_theta",
                 "swiglu_limits",
                 "swiglu_limits_shared",
                 "use_moe",
                 "use_qk_norm",
                 "use_moe_router_bias",
                 "use_head_wise_attn_gate",
                 "need_fp32_gate",
                 "yarn_only_types",
                 "use_rope_layers",
                 "zero_centered",
                 "moe_every_n_layer",
                 "n_shared_experts",
                 "att_impl_type",
                 "sink"});
  decoder::read_sizes(config, spec);
  moe::read_experts(config, spec, "n_routed_experts", "moe_intermediate_size");
  read_sparse_layers_step3p7(config, spec);
  read_mixers_step3p7(config, spec);
  spec.moe->shared_width = config.required_size("share_expert_dim");
  spec.moe->scoring = RouterScoring::sigmoid;
  spec.qk_norm = true;
  spec.head_gate = config.flag("use_head_wise_attn_gate").value_or(true);
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
  spec.mlp_bias = config.flag("mlp_bias").value_or(false);
}

}  // namespace

extern const Family step3p7_family = {
    "step3p7", {"step3p5", "step3p7", "step3p7_text"}, &read_step3p7, &moe::build};

}  // namespace halmark
