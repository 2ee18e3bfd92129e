// Commands and files of each engine word for word.
#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "export/engine/launch_rules.hpp"
#include "export/engine/launch_text.hpp"
#include "small_deployment.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::exports {
namespace {

using test::expect_error;
using test::launch;
using test::small_deployment;
using test::value_of;
using testing::HasSubstr;
using testing::Not;

std::string words(const Launch& l, int index = 0) {
  std::string out;
  for (const std::string& word : server_words(l, index)) out += (out.empty() ? "" : " ") + word;
  return out;
}

TEST(LaunchWords, of_vllm) {
  EXPECT_EQ(words(launch(small_deployment({.dp = 2, .tp = 4, .pp = 2}), "vllm", "0.20.1")),
            "vllm serve org/small --tensor-parallel-size 4 --pipeline-parallel-size 2 "
            "--data-parallel-size 2 --dtype bfloat16 --kv-cache-dtype auto "
            "--max-num-batched-tokens 2048 --enable-chunked-prefill --gpu-memory-utilization 0.9");
  const Launch l = launch(small_deployment({.dp = 2, .tp = 4, .pp = 2}), "vllm", "0.20.1");
  EXPECT_EQ(l.group_devices, 4);
  EXPECT_EQ(l.devices_per_server, 16);
  EXPECT_EQ(l.servers, 1);
  EXPECT_FALSE(l.span) << "data-parallel ranks meet in another way";
  const Launch one = launch(small_deployment({.tp = 4, .pp = 2}), "vllm", "0.20.1");
  ASSERT_TRUE(one.span);
  EXPECT_EQ(one.span->nodes, "--nnodes");
  EXPECT_EQ(one.span->rank, "--node-rank");
  EXPECT_EQ(one.span->address, "--master-addr");
  EXPECT_EQ(one.span->follower, "--headless");
  EXPECT_EQ(one.span->address_port, 0);
  EXPECT_FALSE(launch(small_deployment({.tp = 4}), "vllm", "0.10.2").span)
      << "the release knows no nodes";
}

TEST(LaunchWords, of_sglang) {
  const Launch l = launch(small_deployment({.dp = 2, .tp = 2, .pp = 2}), "sglang", "0.5.9");
  EXPECT_THAT(
      words(l),
      HasSubstr("--model-path org/small --tp-size 2 --pp-size 2 --dp-size 2 --dtype bfloat16 "
                "--kv-cache-dtype auto --chunked-prefill-size 2048 --max-prefill-tokens 2048 "
                "--enable-mixed-chunk --mem-fraction-static 0.86"));
  EXPECT_EQ(l.group_devices, 2);
  EXPECT_EQ(l.devices_per_server, 8);
  ASSERT_TRUE(l.span);
  EXPECT_EQ(l.span->address_port, 5000);
  EXPECT_EQ(l.span->follower, "");
  const auto refused = [](const Parallel& p) {
    return test::error_of([&] { launch(small_deployment(p, true), "sglang", "0.5.9"); }).line();
  };
  EXPECT_THAT(refused({.dp = 4, .tp = 2, .ep = 4}), HasSubstr("ep4 is not tp x dp = 8"));
  EXPECT_THAT(refused({.tp = 4, .ep = 3}), HasSubstr("ep3 does not divide tp4"));
}

TEST(LaunchWords, of_trtllm) {
  const Launch l = launch(small_deployment({.dp = 2, .tp = 4, .pp = 2}), "trtllm", "1.0.0");
  // (100 GiB x 0.9 - 20 - 4) / (100 - 20) = 0.825.
  EXPECT_THAT(words(l), HasSubstr("org/small --backend pytorch --tp_size 4 --pp_size 2 "
                                  "--max_num_tokens 2048 "
                                  "--kv_cache_free_gpu_memory_fraction 0.825 "
                                  "--extra_llm_api_options options.yaml --port 8000"));
  EXPECT_THAT(words(l, 1), testing::EndsWith("--port 8001"));
  EXPECT_EQ(l.servers, 2);
  EXPECT_EQ(l.devices_per_server, 8);
  EXPECT_EQ(l.group_devices, 4);
  EXPECT_EQ(l.options,
            "# what trtllm-serve takes from a file alone\n"
            "enable_chunked_prefill: true  # steps mix prompts and tokens, as priced\n");
  const Launch spread = launch(small_deployment({.dp = 4, .ep = 2}, true), "trtllm", "1.0.0");
  EXPECT_EQ(spread.servers, 2);
  EXPECT_EQ(value_of(spread, "--tp_size"), "2");
  EXPECT_EQ(value_of(spread, "--ep_size"), "2");
  EXPECT_THAT(spread.options, HasSubstr("enable_attention_dp: true  # dp4\n"));
  Deployment narrow = small_deployment({});
  narrow.point.configuration.precision.kv_cache = Dtype::f8_e4m3fn;
  EXPECT_THAT(launch(narrow, "trtllm", "1.0.0").options,
              HasSubstr("kv_cache_config:\n  dtype: fp8  # kv_cache of the point\n"));
  narrow.point.configuration.precision.kv_cache = Dtype::f8_e5m2;
  expect_error([&] { launch(narrow, "trtllm", "1.0.0"); }, "its fp8 cache is e4m3");
  expect_error(
      [] { launch(small_deployment({.dp = 4, .tp = 2, .ep = 4}, true), "trtllm", "1.0.0"); },
      "the point has tp2 with ep4");
}

TEST(LaunchWords, of_llama_cpp) {
  const auto with = [](Dtype weights, Dtype cache) {
    Deployment d = small_deployment({.dp = 2});
    d.point.configuration.precision = Precision::uniform("p", weights);
    d.point.configuration.precision.kv_cache = cache;
    return launch(d, "llamacpp", "b11434");
  };
  const Launch l = with(Dtype::bf16, Dtype::bf16);
  EXPECT_EQ(words(l, 1),
            "llama-server --model org/small-BF16.gguf --parallel 32 --ctx-size 32768 --batch-size "
            "2048 --ubatch-size 2048 --cache-type-k bf16 --cache-type-v bf16 "
            "--n-gpu-layers 999 --port 8001");
  for (const auto& [dtype, word] : {std::pair{Dtype::bf16, "BF16"},
                                    {Dtype::f16, "F16"},
                                    {Dtype::f32, "F32"},
                                    {Dtype::s8, "Q8_0"}}) {
    EXPECT_EQ(value_of(with(dtype, Dtype::bf16), "--model"),
              "org/small-" + std::string(word) + ".gguf");
  }
  for (const auto& [dtype, word] : {std::pair{Dtype::bf16, "bf16"},
                                    {Dtype::f16, "f16"},
                                    {Dtype::f32, "f32"},
                                    {Dtype::s8, "q8_0"}}) {
    const Launch of = with(Dtype::bf16, dtype);
    EXPECT_EQ(value_of(of, "--cache-type-k"), word);
    EXPECT_EQ(value_of(of, "--cache-type-v"), word);
    EXPECT_EQ(value_of(of, "--flash-attn"), dtype == Dtype::s8 ? "on" : "");
  }
  const auto refused = [&](Dtype weights, Dtype cache) {
    return test::error_of([&] { with(weights, cache); }).line();
  };
  EXPECT_THAT(refused(Dtype::f8_e4m3fn, Dtype::bf16),
              HasSubstr("no type of its files has products of p"));
  EXPECT_THAT(refused(Dtype::bf16, Dtype::f8_e4m3fn), HasSubstr("no type of its cache is f8_e4m3"));
  expect_error([] { launch(small_deployment({.dp = 2, .ep = 2}, true), "llamacpp", "b11434"); },
               "it does not spread experts over ranks");
}

// An engine's own limits stand where nothing needs others: levels cap what is in flight (64 over
// two replicas), memory the length; vLLM starts with 256 on small devices, and a step holds them
// all.
TEST(LaunchWords, of_limits_are_there_with_their_reason_or_not_at_all) {
  struct Engine {
    const char *name, *version, *requests, *length;
  };
  for (const Engine& e : {Engine{"vllm", "0.20.1", "--max-num-seqs", "--max-model-len"},
                          {"sglang", "0.5.9", "--max-running-requests", "--context-length"},
                          {"trtllm", "1.0.0", "--max_batch_size", "--max_seq_len"}}) {
    Deployment d = small_deployment({.dp = 2});
    const Launch free = launch(d, e.name, e.version);
    EXPECT_EQ(value_of(free, e.requests) + value_of(free, e.length), "") << e.name;
    d.levels = {{Objective::tpot, 30e6, ""}, {Objective::interactivity, 40, ""}};
    d.room_tokens = 5120;
    d.model_tokens = 131072;
    const Launch bound = launch(d, e.name, e.version);
    EXPECT_EQ(value_of(bound, e.requests), "32");
    EXPECT_EQ(value_of(bound, e.length), "5120");
    const std::string script = launch_files(d, bound).front().text;
    EXPECT_THAT(script,
                HasSubstr("64 in flight over dp2 keep TPOT <= 30.0 ms and interactivity >= "));
    EXPECT_THAT(script, HasSubstr("memory holds no longer sequence; the model's end at 131072"));
    EXPECT_THAT(script, Not(HasSubstr("prefix")));
  }
  Deployment many = small_deployment({});
  many.point.configuration.served->concurrency = 512;
  EXPECT_EQ(value_of(launch(many, "vllm", "0.20.1"), "--max-num-seqs"), "512");
  many.point.configuration.served->concurrency = 256;
  EXPECT_EQ(value_of(launch(many, "vllm", "0.20.1"), "--max-num-seqs"), "");
  many.point.configuration.served->token_budget = 512;
  EXPECT_EQ(value_of(launch(many, "vllm", "0.20.1"), "--max-num-seqs"), "256");
}

TEST(LaunchWords, types_have_the_words_of_the_engines) {
  for (const auto& [dtype, word] :
       {std::pair{Dtype::bf16, "bfloat16"}, {Dtype::f16, "float16"}, {Dtype::f32, "float32"}}) {
    Deployment d = small_deployment({});
    d.point.configuration.precision = Precision::uniform("p", dtype);
    EXPECT_EQ(value_of(launch(d, "vllm", "0.20.1"), "--dtype"), word);
  }
  Deployment d = small_deployment({});
  const auto cache = [&](Dtype dtype) {
    d.point.configuration.precision.kv_cache = dtype;
    return value_of(launch(d, "vllm", "0.20.1"), "--kv-cache-dtype");
  };
  EXPECT_EQ(cache(Dtype::bf16), "auto");
  EXPECT_EQ(cache(Dtype::f8_e4m3fn), "fp8_e4m3");
  EXPECT_EQ(cache(Dtype::f8_e5m2), "fp8_e5m2");
  d = small_deployment({});
  d.point.configuration.precision.attention = Dtype::f32;
  expect_error([&] { launch(d, "vllm", "0.20.1"); }, "attention in f32 has no flag of its own");
  d = small_deployment({});
  d.point.configuration.precision.activation = d.point.configuration.precision.attention =
      Dtype::s8;
  expect_error([&] { launch(d, "vllm", "0.20.1"); }, "activations of s8");
}

TEST(LaunchWords, fractions_are_rounded_down_and_shares_up) {
  EXPECT_DOUBLE_EQ(rounded_down(0.8999), 0.899);
  EXPECT_DOUBLE_EQ(rounded_down(0.9), 0.9);
  EXPECT_EQ(share_of(64, 3), 22);
  EXPECT_EQ(share_of(63, 3), 21);
  EXPECT_EQ(share_of(0, 3), 1);
  EXPECT_EQ(gib_text(std::int64_t{3} << 29), "1.5 GiB");
}

TEST(LaunchFiles, of_two_servers_start_both_and_wait) {
  const Deployment d = small_deployment({.dp = 2, .tp = 2}, true);
  const std::string script = launch_files(d, launch(d, "vllm", "0.20.1")).front().text;
  EXPECT_THAT(script,
              testing::StartsWith("#!/bin/sh\n# small with vllm 0.20.1 on 4 x h200; written "
                                  "by halmark "));
  EXPECT_THAT(
      script,
      test::has_all({"# server 1 of 2\nCUDA_VISIBLE_DEVICES=0,1 vllm serve org/small \\\n"
                     "  --tensor-parallel-size 2 \\\n",
                     "\n# server 2 of 2\nCUDA_VISIBLE_DEVICES=2,3 vllm serve",
                     " \\\n  --port 8001 &\nwait\n",
                     "\n# peak rank memory: 20 GiB of weights, 30 GiB of keys "
                     "and values, 4 GiB of activations\n",
                     "\n# point 1 of 1: ",
                     "\n# forecast (times: roofline): memory 0.00 GB, TTFT 50.0 ms, TPOT 10.0 ms, ",
                     "\n# --tensor-parallel-size 2                tp2\n"}));
  Deployment here = d;
  here.device.clear();
  EXPECT_THAT(launch_files(here, launch(here, "vllm", "0.20.1")).front().text,
              testing::AllOf(Not(HasSubstr("CUDA_VISIBLE")), HasSubstr(" x this machine; ")));
  const Deployment one = small_deployment({.tp = 2});
  EXPECT_THAT(launch_files(one, launch(one, "vllm", "0.20.1")).front().text,
              HasSubstr("\nexec vllm serve org/small \\\n"));
}

TEST(LaunchFiles, of_flags_are_read_by_the_engines_that_take_one) {
  const Deployment d = small_deployment({.tp = 2});
  const auto files = launch_files(d, launch(d, "vllm", "0.20.1"));
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[1].name, "config.yaml");
  EXPECT_THAT(files[1].text, test::has_all({"\nmodel: org/small\ntensor-parallel-size: 2  # tp2\n",
                                            "\nenable-chunked-prefill: true  # "}));
  const auto sglang = launch_files(d, launch(d, "sglang", "0.5.9"));
  ASSERT_EQ(sglang.size(), 2u);
  EXPECT_THAT(sglang[1].text, Not(HasSubstr("\nmodel: ")));
  EXPECT_THAT(sglang[1].text, HasSubstr("\nmodel-path: org/small  # the model of the search\n"));
  const auto trtllm = launch_files(d, launch(d, "trtllm", "1.0.0"));
  ASSERT_EQ(trtllm.size(), 2u);
  EXPECT_EQ(trtllm[1].name, "options.yaml");
  Deployment plain = small_deployment({});
  EXPECT_EQ(launch_files(plain, launch(plain, "llamacpp", "b11434")).size(), 1u);
}

TEST(LaunchFiles, as_a_document_have_words_files_and_flags) {
  const Deployment d = small_deployment({.dp = 2, .tp = 2}, true);
  const Launch l = launch(d, "vllm", "0.20.1");
  const Json document = launch_json(d, l);
  EXPECT_THAT(document, test::HasValues(R"({"/engine": "vllm", "/version": "0.20.1",
      "/point": "point 1 of 1", "/is_forecast_of_engine": false, "/devices_per_server": 2,
      "/flags/0": {"flag": "--tensor-parallel-size", "value": "2", "why": "tp2"}})"));
  EXPECT_EQ(document["is_verified"], l.is_verified);
  EXPECT_EQ(document["flags_source"], l.source);
  ASSERT_EQ(document["servers"].size(), 2u);
  EXPECT_EQ(document["servers"][1].back(), "8001");
  EXPECT_EQ(document["files"].size(), 2u);
}

}  // namespace
}  // namespace halmark::exports
