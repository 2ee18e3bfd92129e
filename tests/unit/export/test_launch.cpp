// What a point says, in the words of each engine. Expected values follow from the engines' own
// rules, which the comments of the emitters name.
#include <gmock/gmock.h>

#include "tests/unit/error_of.hpp"
#include "tests/unit/export/small_deployment.hpp"

namespace halmark::exports {
namespace {

using test::launch;
using test::small_deployment;
using test::value_of;
using testing::HasSubstr;

std::string refusal(const Deployment& d, const std::string& engine, const std::string& version) {
  return test::error_of([&] { launch(d, engine, version); }).line();
}

TEST(Launch, experts_of_vllm_are_on_all_ranks_of_a_server_or_a_server_is_a_replica) {
  const auto of = [](int dp, int tp, int ep) {
    return launch(small_deployment({.dp = dp, .tp = tp, .ep = ep}, true), "vllm", "0.20.1");
  };
  const Launch replicas = of(4, 2, 1);
  EXPECT_EQ(replicas.servers, 4);
  EXPECT_EQ(value_of(replicas, "--data-parallel-size"), "");
  const Launch spread = of(4, 2, 8);
  EXPECT_EQ(spread.servers, 1);
  EXPECT_EQ(value_of(spread, "--data-parallel-size"), "4");
  EXPECT_EQ(value_of(spread, "--enable-expert-parallel"), "on");
  const Launch halves = of(4, 2, 4);
  EXPECT_EQ(halves.servers, 2);
  EXPECT_EQ(halves.devices_per_server, 4);
  EXPECT_THAT(refusal(small_deployment({.tp = 4, .ep = 2}, true), "vllm", "0.20.1"),
              HasSubstr("ep2 is no multiple of tp4"));
}

TEST(Launch, sglang_counts_all_ranks_where_attention_is_data_parallel) {
  const auto with_level = [](const Parallel& parallel) {
    Deployment d = small_deployment(parallel, true);
    d.levels = {{Objective::tpot, 30e6, ""}};
    return launch(d, "sglang", "0.5.9");
  };
  const Launch l = with_level({.dp = 4, .tp = 2, .ep = 8});
  EXPECT_EQ(value_of(l, "--tp-size"), "8");
  EXPECT_EQ(value_of(l, "--dp-size"), "4");
  EXPECT_EQ(value_of(l, "--ep-size"), "8");
  EXPECT_EQ(value_of(l, "--enable-dp-attention"), "on");
  EXPECT_EQ(l.devices_per_server, 8);
  // The release divides both by dp.
  EXPECT_EQ(value_of(l, "--max-running-requests"), "64");
  EXPECT_EQ(value_of(l, "--chunked-prefill-size"), "8192");
  const Launch plain = with_level({.dp = 4, .tp = 2, .ep = 2});
  EXPECT_EQ(value_of(plain, "--max-running-requests"), "16");
  EXPECT_EQ(value_of(plain, "--enable-dp-attention"), "");
  EXPECT_EQ(plain.devices_per_server, 8);
}

// Three fractions, three quantities, one need: 20 GiB of weights, 4 of activations, 90 of 100
// usable.
TEST(Launch, fractions_of_memory_leave_each_engine_the_same_bytes_for_the_cache) {
  const Deployment d = small_deployment({.tp = 4});
  const double vllm = std::stod(value_of(launch(d, "vllm", "0.20.1"), "--gpu-memory-utilization"));
  const double sglang = std::stod(value_of(launch(d, "sglang", "0.5.9"), "--mem-fraction-static"));
  const double trtllm =
      std::stod(value_of(launch(d, "trtllm", "1.0.0"), "--kv_cache_free_gpu_memory_fraction"));
  EXPECT_NEAR(vllm * 100 - 20 - 4, 66, 0.11);
  EXPECT_NEAR(sglang * 100 - 20, 66, 0.11);
  EXPECT_NEAR(trtllm * (100 - 20), 66, 0.11);
}

TEST(Launch, what_no_flag_means_is_refused_with_its_reason) {
  Deployment d = small_deployment({.tp = 2, .cp = 2});
  EXPECT_THAT(refusal(d, "vllm", "0.20.1"), HasSubstr("context parallelism of 2"));
  d = small_deployment({.tp = 2});
  d.point.configuration.served->mode = ServingMode::disaggregated;
  EXPECT_THAT(refusal(d, "sglang", "0.5.9"), HasSubstr("router"));
  d = small_deployment({.tp = 2});
  d.point.configuration.precision.kv_cache = Dtype::s8;
  EXPECT_THAT(refusal(d, "vllm", "0.20.1"), HasSubstr("keys and values"));
  d = small_deployment({.tp = 2});
  d.rank.cache *= 4;
  EXPECT_THAT(refusal(d, "vllm", "0.20.1"), HasSubstr("a rank needs 144 GiB of the 90 GiB"));
  d = small_deployment({.tp = 2});
  d.point.configuration.served->token_budget = 16;
  EXPECT_THAT(refusal(d, "vllm", "0.20.1"), HasSubstr("smaller than the 64 sequences"));
  EXPECT_THAT(refusal(small_deployment({.tp = 2}), "llamacpp", "b11434"), HasSubstr("tp2"));
  EXPECT_THAT(refusal(small_deployment({.pp = 2}), "llamacpp", "b11434"), HasSubstr("pp2"));
}

TEST(Launch, narrow_weights_are_quantised_while_loading_or_those_of_the_checkpoint) {
  Deployment d = small_deployment({.tp = 2});
  d.point.configuration.precision.set_linears(Dtype::f8_e4m3fn);
  EXPECT_EQ(value_of(launch(d, "vllm", "0.20.1"), "--quantization"), "fp8");
  EXPECT_THAT(refusal(d, "trtllm", "1.0.0"), HasSubstr("from the checkpoint"));
  d.stored = d.configuration().precision;
  EXPECT_EQ(value_of(launch(d, "vllm", "0.20.1"), "--quantization"), "");
  EXPECT_EQ(value_of(launch(d, "trtllm", "1.0.0"), "--tp_size"), "2");
  d.stored.reset();
  d.point.configuration.precision.set_linears(Dtype::s8);
  EXPECT_THAT(refusal(d, "vllm", "0.20.1"), HasSubstr("--checkpoint NAME"));
  d.is_checkpoint_named = true;
  EXPECT_EQ(value_of(launch(d, "vllm", "0.20.1"), "--quantization"), "");
}

TEST(Launch, a_step_of_one_shard_becomes_slots_of_llama_cpp) {
  Deployment d = small_deployment({});
  Configuration& c = d.point.configuration;
  c.served.reset();
  d.point.served.reset();
  c.workload = {.phase = Phase::decode, .batch = 4, .new_tokens = 1, .context = 512};
  c.precision = Precision::uniform("int8", Dtype::s8);
  c.precision.activation = c.precision.attention = c.precision.kv_cache = Dtype::bf16;
  const Launch l = launch(d, "llamacpp", "b11434");
  EXPECT_EQ(value_of(l, "--parallel"), "4");
  EXPECT_EQ(value_of(l, "--ctx-size"), "2048");
  EXPECT_EQ(value_of(l, "--cache-type-k"), "bf16");
  EXPECT_THAT(value_of(l, "--model"), HasSubstr("Q8_0"));
}

}  // namespace
}  // namespace halmark::exports
