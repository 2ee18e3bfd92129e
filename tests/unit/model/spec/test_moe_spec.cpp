// Configurations of mixtures of experts: what is read, and what is refused instead of guessed.

#include <nlohmann/json.hpp>

#include "core/json/json.hpp"
#include "fixtures.hpp"

namespace halmark {
namespace {

using namespace model_test;

Json base() { return parse_json(tiny_moe_json, "tiny_moe.json"); }
ModelSpec read(const Json& config) { return read_model(config.dump(), "config.json"); }

std::string refusal_of(const Json& config) {
  try {
    read(config);
  } catch (const Error& error) {
    return error.line();
  }
  return {};
}

TEST(MoeSpec, granite_routes_by_softmax_over_the_chosen) {
  const ModelSpec spec = shipped("granite-3.1-1b-a400m");
  ASSERT_TRUE(spec.moe);
  EXPECT_EQ(spec.moe->experts, 32);
  EXPECT_EQ(spec.moe->top_k, 8);
  EXPECT_EQ(spec.moe->width, 512);
  EXPECT_EQ(spec.moe->shared_width, 0);
  EXPECT_TRUE(spec.moe->renormalize);
  EXPECT_EQ(spec.intermediate, 0);
  EXPECT_THAT(spec.is_sparse, Each(true));
  EXPECT_TRUE(spec.tied);
}

TEST(MoeSpec, glm_has_dense_layers_first_and_shared_experts) {
  const ModelSpec spec = shipped("glm-4.5");
  EXPECT_EQ(spec.intermediate, 12288);
  EXPECT_FALSE(spec.is_sparse[2]);
  EXPECT_TRUE(spec.is_sparse[3]);
  EXPECT_EQ(spec.moe->shared_width, 1536);
  EXPECT_EQ(spec.moe->scoring, RouterScoring::sigmoid);
  EXPECT_TRUE(spec.qk_norm);
  EXPECT_FALSE(shipped("glm-4.5-air").qk_norm);
}

TEST(MoeSpec, qwen2_moe_gates_its_shared_expert) {
  Json config = base();
  config["model_type"] = "qwen2_moe";
  config["shared_expert_intermediate_size"] = 24;
  const ModelSpec spec = read(config);
  EXPECT_EQ(spec.moe->shared_width, 24);
  EXPECT_TRUE(spec.moe->shared_gate);
  EXPECT_TRUE(spec.qkv_bias);
  config.erase("shared_expert_intermediate_size");
  EXPECT_EQ(read(config).moe->shared_width, 5632);  // of its class
}

TEST(MoeSpec, layers_without_experts_follow_from_the_step_and_the_list) {
  Json config = base();
  config["decoder_sparse_step"] = 2;
  config["mlp_only_layers"] = {3};
  says(refusal_of(config), "intermediate_size");
  config["intermediate_size"] = 32;
  const ModelSpec spec = read(config);
  EXPECT_THAT(spec.is_sparse, ElementsAre(false, true, false, false));
  EXPECT_EQ(spec.intermediate, 32);
}

TEST(MoeSpec, what_a_step_would_pay_for_is_refused_and_never_guessed) {
  for (const auto& [field, value] :
       std::vector<std::pair<std::string, Json>>{{"first_k_dense_replace", 1},
                                                 {"n_shared_experts", 1},
                                                 {"shared_intermediate_size", 64},
                                                 {"moe_latent_size", 4},
                                                 {"moe_layer_freq", 2},
                                                 {"kv_lora_rank", 512},
                                                 {"attn_output_gate", true}}) {
    Json config = base();
    config[field] = value;
    says(refusal_of(config), field);
    // The values that mean nothing are not in the way.
    config[field] = value.is_boolean() ? Json(false) : Json(field == "moe_layer_freq" ? 1 : 0);
    EXPECT_EQ(refusal_of(config), "") << field;
  }
  Json config = base();
  config["layer_types"] = {"full_attention", "linear_attention", "full_attention",
                           "full_attention"};
  says(refusal_of(config), "linear_attention");
}

TEST(MoeSpec, more_experts_per_token_than_experts_is_refused_with_both) {
  Json config = base();
  config["num_experts_per_tok"] = 9;
  EXPECT_THAT(refusal_of(config), AllOf(HasSubstr("9"), HasSubstr("8")));
}

TEST(MoeSpec, a_shared_granite_is_the_granite_with_a_dense_network_beside_it) {
  Json config = parse_json(tiny_moe_json, "x");
  config["model_type"] = "granitemoeshared";
  config["num_local_experts"] = 8;
  config["intermediate_size"] = 16;
  config["shared_intermediate_size"] = 64;
  EXPECT_EQ(read(config).moe->shared_width, 64);
  config["model_type"] = "granitemoe";
  says(refusal_of(config), "shared_intermediate_size");
}

}  // namespace
}  // namespace halmark
