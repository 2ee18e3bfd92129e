// What a point says, in the words of each engine. Expected values follow from the engines' own
// rules, which the comments of the emitters name.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>

#include "core/text/shell_word.hpp"
#include "export/engine/engine_table.hpp"
#include "export/engine/launch_text.hpp"
#include "export/yaml.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/export/small_deployment.hpp"

namespace halmark::exports {
namespace {

using test::launch;
using test::small_deployment;
using test::value_of;
using testing::HasSubstr;
using testing::Not;

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

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string out;
  char block[4096];
  while (const std::size_t n = fread(block, 1, sizeof block, pipe)) out.append(block, n);
  pclose(pipe);
  return out;
}

// The shell itself is the judge.
TEST(LaunchText, a_hostile_name_stays_one_word_of_the_shell) {
  for (const std::string name :
       {"a b", "it's", "$(touch x)", "`id`", "a;b", "\"", "", "-x y", "*", "é"}) {
    EXPECT_EQ(output_of("printf '%s|' " + shell_word(name) + " end"), name + "|end|");
  }
}

TEST(LaunchText, the_script_has_a_comment_for_every_flag_and_says_whose_forecast_it_is) {
  const Deployment d = test::small_deployment({.dp = 2, .tp = 4});
  const Launch l = test::launch(d, "vllm", "0.20.1");
  const std::string script = launch_files(d, l).front().text;
  for (const LaunchFlag& f : l.flags) EXPECT_THAT(script, HasSubstr(f.why));
  EXPECT_THAT(script, test::has_all({"no forecast of vllm", "TPOT 10.0 ms"}));
  EXPECT_THAT(script, Not(HasSubstr("--port")));
}

TEST(LaunchText, a_line_feed_in_a_name_does_not_end_a_comment) {
  Deployment d = test::small_deployment({.tp = 4});
  d.point_name = "point\nrm -rf x";
  const std::string script = launch_files(d, test::launch(d, "vllm", "0.20.1")).front().text;
  EXPECT_THAT(script, Not(HasSubstr("\nrm -rf")));
}

TEST(EngineTables, every_shipped_table_is_read_and_is_of_its_folder_and_file) {
  int tables = 0;
  for (const std::string& engine : engine_names()) {
    for (const std::string& version : engine_versions(engine, test::engine_folders())) {
      const EngineTable table = read_engine_table(engine, version, test::engine_folders());
      EXPECT_EQ(table.engine, engine);
      EXPECT_EQ(table.version, version);
      EXPECT_FALSE(table.source.empty());
      EXPECT_GE(table.flags.size(), 10u) << table.name();
      ++tables;
    }
  }
  EXPECT_GE(tables, 20);
}

TEST(EngineTables, versions_stand_in_the_order_of_their_numbers) {
  const std::vector<std::string> vllm = engine_versions("vllm", test::engine_folders());
  EXPECT_LT(std::ranges::find(vllm, "0.20.1"), std::ranges::find(vllm, "0.24.0"));
  const std::vector<std::string> sglang = engine_versions("sglang", test::engine_folders());
  EXPECT_LT(std::ranges::find(sglang, "0.5.9"), std::ranges::find(sglang, "0.5.10.post1"));
}

TEST(EngineTables, the_latest_is_taken_where_none_is_stated) {
  EXPECT_EQ(read_engine_table("vllm", "", test::engine_folders()).version,
            engine_versions("vllm", test::engine_folders()).back());
  EXPECT_EQ(read_engine_table("vllm", "latest", test::engine_folders()).version,
            read_engine_table("vllm", "", test::engine_folders()).version);
}

TEST(EngineTables, an_unknown_version_is_refused_with_the_known_ones) {
  for (const char* version : {"9.9", "../sglang/0.5.9"}) {
    test::expect_error([&] { read_engine_table("vllm", version, test::engine_folders()); },
                       "known: 0.10.2, 0.11.0", ExitCode::refused);
  }
}

// The parsers of the releases: fp8 caches have other words, and one engine knows nodes from 0.12
// on.
TEST(EngineTables, choices_and_flags_are_those_of_the_release) {
  const EngineTable old = read_engine_table("vllm", "0.10.2", test::engine_folders());
  const EngineTable now = read_engine_table("vllm", "0.24.0", test::engine_folders());
  EXPECT_TRUE(old.allows("--kv-cache-dtype", "fp8_e4m3"));
  EXPECT_FALSE(old.allows("--kv-cache-dtype", "bfloat16"));
  EXPECT_TRUE(now.allows("--kv-cache-dtype", "bfloat16"));
  EXPECT_FALSE(old.has("--nnodes"));
  EXPECT_TRUE(now.has("--nnodes"));
}

}  // namespace
}  // namespace halmark::exports
