// MiniMax-M2: experts in every layer, sigmoid scores, RMSNorm over whole rows of q and k. The
// correction of the scores is state of training and no parameter; MTP modules are no part of a
// step.
#include <string>

#include "core/text/error.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_norm(const ConfigReader& config, ModelSpec& spec) {
  spec.qk_norm = config.flag("use_qk_norm").value_or(true);
  const std::string kind = config.text("qk_norm_type").value_or("per_layer");
  if (kind != "per_layer" && kind != "per_head") {
    config.refuse("qk_norm_type", "is '" + printable(kind) + "'; known: per_layer, per_head");
  }
  spec.qk_norm_of_row = kind == "per_layer";
}

void read_minimax_m2(ConfigReader& config, ModelSpec& spec) {
  moe::refuse_unmodelled(config, {});
  config.ignore({"scoring_func"});
  decoder::read_sizes(config, spec);
  if (config.has("rotary_dim")) decoder::read_rotary_dim(config, spec);
  moe::read_experts(config, spec, "num_local_experts", "intermediate_size");
  spec.moe->scoring = RouterScoring::sigmoid;
  read_norm(config, spec);
}

}  // namespace

extern const Family minimax_m2_family = {
    "minimax_m2", {"minimax_m2"}, &read_minimax_m2, &moe::build};

}  // namespace halmark
