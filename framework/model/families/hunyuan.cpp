// Hunyuan V1: RMSNorm on each q and k head; dense, or experts in every layer beside a shared one.
// Its files state per layer what is one number in all that are published.
#include <string>
#include <string_view>

#include "model/families/dense.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

// A number, or the one number that a list holds for every layer.
std::int64_t same_in_all(const ConfigReader& config, const ModelSpec& spec, std::string_view field,
                         std::int64_t fallback) {
  if (!config.is_list(field)) return config.size(field).value_or(fallback);
  const auto listed = *config.counts(field);
  decoder::check_layer_count(config, spec, field, listed.size());
  for (const std::int64_t value : listed) {
    if (value == listed.front() && value > 0) continue;
    config.refuse(field, "differs between layers, which is not modelled");
  }
  return listed.front();
}

void read_experts_hunyuan(ConfigReader& config, ModelSpec& spec) {
  moe::refuse_unmodelled(config, {});
  ExpertSpec& experts = spec.moe.emplace();
  experts.experts = same_in_all(config, spec, "num_experts", 1);
  experts.top_k = same_in_all(config, spec, "moe_topk", 1);
  if (experts.top_k > experts.experts) {
    config.refuse("moe_topk", "is " + std::to_string(experts.top_k) + ", more than num_experts " +
                                  std::to_string(experts.experts));
  }
  const std::int64_t width = config.required_size("intermediate_size");
  experts.width = same_in_all(config, spec, "moe_intermediate_size", width);
  experts.shared_width = width * same_in_all(config, spec, "num_shared_expert", 1);
  spec.is_sparse.assign(static_cast<std::size_t>(spec.layers), true);
}

void read_hunyuan(ConfigReader& config, ModelSpec& spec) {
  decoder::read_sizes(config, spec);
  // A file of one expert is a dense model.
  const bool has_experts =
      config.is_list("num_experts") || config.size("num_experts").value_or(1) > 1;
  if (has_experts) {
    read_experts_hunyuan(config, spec);
  } else {
    dense::read_width(config, spec);
  }
  spec.qk_norm = config.flag("use_qk_norm").value_or(true);
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
  config.ignore({"attention_head_dim", "use_cla", "cla_share_factor", "use_mla",
                 "use_mixed_mlp_moe", "norm_type", "mlp_bias", "moe_layer_num_skipped",
                 "num_media_embeds"});
}

void build_hunyuan(const ModelSpec& spec, GraphBuilder& b) {
  (spec.moe ? moe::build : dense::build)(spec, b);
}

}  // namespace

extern const Family hunyuan_family = {
    "hunyuan", {"hunyuan_v1_dense", "hunyuan_v1_moe", "hunyuan"}, &read_hunyuan, &build_hunyuan};

}  // namespace halmark
