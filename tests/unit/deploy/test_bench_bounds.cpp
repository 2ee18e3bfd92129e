// Figures of benchmarks, both sides of every bound, and what the user may state beside them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "deploy/bench/bench_field.hpp"
#include "deploy/bench/engine_bench.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::deploy {
namespace {

using testing::HasSubstr;
using testing::StrEq;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.line();
  }
  return "read";
}

// One field "x" of an object "f:".
struct Field {
  explicit Field(const std::string& text) : value(Json::parse("{\"x\": " + text + "}")) {}
  BenchObject field() const { return {value, "f:"}; }
  Json value;
};

TEST(BenchBounds, a_time_is_of_a_tenth_of_a_nanosecond_to_eleven_days) {
  EXPECT_EQ(checked_time(0.1, "f"), 0.1);
  EXPECT_EQ(checked_time(1e15, "f"), 1e15);
  EXPECT_EQ(refusal([] { checked_time(0.09, "f"); }),
            "f: 0.09 ns is no time of a step; 0.1 ns to eleven days are expected");
  EXPECT_THAT(refusal([] { checked_time(1.1e15, "f"); }), HasSubstr("is no time of a step"));
  EXPECT_EQ(Field("2.5").field().time_ns("x", 1e6), 2.5e6);
  EXPECT_THAT(refusal([] { Field("\"2\"").field().time_ns("x", 1); }),
              StrEq("f:.x: a number is expected"));
}

TEST(BenchBounds, a_deviation_may_be_nothing_and_a_count_is_whole) {
  EXPECT_EQ(Field("0").field().deviation_ns("x", 1), 0);
  EXPECT_EQ(Field("1e9").field().deviation_ns("x", 1e6), 1e15);
  EXPECT_FALSE(Field("null").field().deviation_ns("x", 1));
  EXPECT_FALSE(Field("1").field().deviation_ns("y", 1));
  EXPECT_THAT(refusal([] { Field("-0.5").field().deviation_ns("x", 1); }),
              StrEq("f:.x: -0.5 ns is no deviation"));
  EXPECT_THAT(refusal([] { Field("1.1e9").field().deviation_ns("x", 1e6); }),
              HasSubstr("no deviation"));
  EXPECT_EQ(Field("0").field().count("x"), 0);
  EXPECT_EQ(Field("1e15").field().count("x"), 1'000'000'000'000'000);
  for (const char* const bad : {"-1", "0.5", "1.1e15"}) {
    EXPECT_THAT(refusal([&] { Field(bad).field().count("x"); }), HasSubstr("is no count")) << bad;
  }
}

TEST(BenchBounds, fields_are_of_their_kind_and_name_their_place) {
  EXPECT_EQ(refusal([] { Field("1").field().text("x"); }), "f:.x: a text is expected");
  EXPECT_EQ(refusal([] { Field("1").field().text("y"); }), "f:: 'y' is missing");
  EXPECT_EQ(refusal([] { Field("1").field().object("x"); }), "f:.x: an object is expected");
  EXPECT_EQ(refusal([] { Field("1").field().list("x"); }), "f:.x: a list is expected");
  EXPECT_EQ(Field("{}").field().object("x").where, "f:.x");
  EXPECT_EQ(Field("[5]").field().list("x").at(0).where, "f:.x[0]");
  EXPECT_EQ(Field("\"t\"").field().text_or_none("x"), "t");
  EXPECT_EQ(Field("1").field().text_or_none("x"), "");
  EXPECT_EQ(Field("null").field().text_or_none("x"), "");
  EXPECT_TRUE(Field("0").field().has("x"));
  EXPECT_FALSE(Field("null").field().has("x"));
  EXPECT_FALSE((BenchObject{Json::array(), "f"}.has("x")));
}

// 1, 2 and 6: mean 3, squares 4 + 1 + 9 over three.
TEST(BenchBounds, deviations_are_of_the_population) {
  const double samples[] = {1, 2, 6};
  EXPECT_DOUBLE_EQ(figures_of(samples).mean, 3);
  EXPECT_DOUBLE_EQ(figures_of(samples).deviation, std::sqrt(14.0 / 3));
}

std::string llama_row(const std::string& rest) {
  return R"([{"build_commit": "c", "build_number": 7, "cpu_info": "A CPU", "gpu_info": "A GPU",
 "backends": "CPU", "model_filename": "m.gguf", "model_type": "q8", "n_ubatch": 512,
 "n_threads": 8, )" +
         rest + "}]";
}

TEST(LlamaBenchRows, of_prompt_and_output_are_requests_and_of_a_cpu_its_threads) {
  const auto [steps, unit, in_file, taken, left_out] = llama_bench_steps(
      llama_row(R"("n_prompt": 10, "n_gen": 5, "avg_ns": 1000, "samples_ns": [1000])"), "r");
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].phase, "request");
  EXPECT_EQ(steps[0].how, "the prompt and all generated tokens");
  EXPECT_EQ(steps[0].step_ns, 1000);
  EXPECT_EQ(steps[0].device, "A CPU, 8 threads");
  EXPECT_EQ(steps[0].precision, "q8");
  EXPECT_EQ(steps[0].model, "m.gguf");
  EXPECT_EQ(steps[0].input_tokens, 10);
  EXPECT_EQ(steps[0].output_tokens, 5);
  EXPECT_EQ(steps[0].cached_tokens, 0);
  EXPECT_FALSE(steps[0].deviation_ns);
  const auto deep =
      llama_bench_steps(llama_row(R"("n_prompt": 10, "n_gen": 0, "n_depth": 64, "avg_ns": 1000,
                   "samples_ns": [999, 1001])"),
                        "r")
          .steps;
  EXPECT_EQ(deep[0].cached_tokens, 64);
  EXPECT_EQ(deep[0].how, "the prompt in parts of 512 tokens");
  EXPECT_EQ(deep[0].samples, 2);
}

// A thousandth of the mean is rounding.
TEST(LlamaBenchRows, have_a_mean_within_a_thousandth_of_their_samples) {
  const auto mean = [](const char* samples) {
    return refusal([&] {
      llama_bench_steps(llama_row(R"("n_prompt": 0, "n_gen": 5, "avg_ns": 1000, "samples_ns": )" +
                                  std::string(samples)),
                        "r");
    });
  };
  EXPECT_EQ(mean("[1000.9]"), "read");
  EXPECT_EQ(mean("[999.1]"), "read");
  EXPECT_EQ(mean("[1001.2]"), "r:[0].samples_ns: its mean is 1001.2 ns, and avg_ns says 1000");
  EXPECT_THAT(mean("[998.8]"), HasSubstr("its mean is 998.8 ns"));
  EXPECT_THAT(mean("[\"x\"]"), HasSubstr("a number is expected"));
  EXPECT_EQ(refusal([] { llama_bench_steps("{}x", "r"); }).substr(0, 4), "r:1:");
}

TEST(VllmLatencyBounds, has_a_mean_within_a_millionth_and_all_that_the_user_states) {
  const StatedFacts whole = {.batch = 2, .input_tokens = 3, .output_tokens = 4};
  const auto with = [&](const char* sample, StatedFacts stated) {
    return refusal([&] {
      vllm_bench_steps("{\"avg_latency\": 2.0, \"latencies\": [" + std::string(sample) + "]}", "r",
                       stated);
    });
  };
  EXPECT_EQ(with("2.0000018", whole), "read");
  EXPECT_THAT(with("2.0000024", whole),
              HasSubstr("its mean is 2.0000024 s, and avg_latency says 2"));
  EXPECT_THAT(with("1.9999976", whole), HasSubstr("its mean is 1.9999976 s"));
  EXPECT_THAT(with("", whole), HasSubstr("there is no sample"));
  for (std::int64_t StatedFacts::*const field :
       {&StatedFacts::batch, &StatedFacts::input_tokens, &StatedFacts::output_tokens}) {
    StatedFacts part = whole;
    part.*field = 0;
    EXPECT_THAT(with("2.0", part), HasSubstr("does not say what its batch was"));
  }
}

TEST(VllmServeBounds, of_one_token_has_no_later_ones) {
  const auto served = [](int tokens, const char* concurrency) {
    return vllm_bench_steps(
               "{\"model_id\": \"m\", \"completed\": 10, \"total_input_tokens\": 15, "
               "\"total_output_tokens\": " +
                   std::to_string(tokens) + concurrency +
                   ", \"mean_ttft_ms\": 2, \"mean_tpot_ms\": 1}",
               "r", {.batch = 6})
        .steps;
  };
  EXPECT_EQ(served(14, "").size(), 1u) << "1.4 tokens are one";
  EXPECT_EQ(served(15, "").size(), 2u) << "1.5 are two";
  EXPECT_EQ(served(15, "")[0].batch, 6) << "as the user states it";
  EXPECT_EQ(served(15, ", \"max_concurrency\": 3")[0].batch, 3);
  EXPECT_EQ(served(15, "")[0].input_tokens, 2);
  EXPECT_FALSE(served(15, "")[1].deviation_ns);
  EXPECT_EQ(served(15, "")[1].how,
            "time per later token of a request, other requests' prompts between them");
}

TEST(OpenVinoBounds, a_mean_lies_between_the_least_and_the_most) {
  const auto graph = [](const char* least, const char* mean, const char* most) {
    return refusal([&] {
      openvino_bench_steps(
          R"({"configuration_setup": {"topology": "t", "target_device": "CPU", "batch_size": 1},
              "execution_results": {"iterations_num": 2, "latency_min": )" +
              std::string(least) + ", \"latency_avg\": " + mean + ", \"latency_max\": " + most +
              "}}",
          "r");
    });
  };
  EXPECT_EQ(graph("2", "2", "2"), "read");
  EXPECT_THAT(graph("2.1", "2", "3"), HasSubstr("the mean lies outside of latency_min"));
  EXPECT_THAT(graph("1", "2", "1.9"), HasSubstr("the mean lies outside of latency_min"));
  const auto package = [](const char* least, const char* mean, const char* most,
                          const char* count) {
    return refusal([&] {
      openvino_bench_steps(
          R"({"configuration_setup": {"topology": "t", "target device": "CPU", "batch size": "1"},
              "execution_results": {"total number of iterations": ")" +
              std::string(count) + "\", \"min latency\": \"" + least + "\", \"avg latency\": \"" +
              mean + "\", \"max latency\": \"" + most + "\"}}",
          "r");
    });
  };
  EXPECT_EQ(package("2", "2", "2", "0"), "read");
  EXPECT_EQ(package("2", "2", "2", "1e15"), "read");
  EXPECT_THAT(package("2.1", "2", "3", "1"), HasSubstr("the mean lies outside of min latency"));
  EXPECT_THAT(package("1", "2", "1.9", "1"), HasSubstr("the mean lies outside of min latency"));
  EXPECT_THAT(package("2", "2", "2", "-1"), HasSubstr("no count"));
  EXPECT_THAT(package("2", "2", "2", "1.1e15"), HasSubstr("no count"));
  EXPECT_THAT(package("2", "2x", "2", "1"), HasSubstr("'2x' is no number"));
}

TEST(ReadBench, fills_what_the_file_leaves_out_and_refuses_what_it_denies) {
  const test::ScratchFolder folder;
  test::write_file(folder / "r.json",
                   R"({"configuration_setup": {"topology": "t", "target_device": "CPU",
                       "batch_size": 1}, "execution_results": {"iterations_num": 2,
                       "latency_min": 1, "latency_avg": 2, "latency_max": 3}})");
  const auto read = [&](const StatedFacts& stated) {
    return read_bench("openvino-bench", folder / "r.json", stated);
  };
  const EngineImport out = read({.engine_version = "2026.4", .precision = "f32", .device = "CPU"});
  EXPECT_EQ(out.tool, "openvino-bench");
  EXPECT_EQ(out.file_sha256.size(), 64u);
  EXPECT_EQ(out.steps[0].engine_version, "2026.4");
  EXPECT_EQ(out.steps[0].precision, "f32");
  EXPECT_EQ(read({.batch = 1}).steps[0].batch, 1);
  const auto denied = [&](const StatedFacts& stated) { return refusal([&] { read(stated); }); };
  EXPECT_THAT(denied({.device = "GPU"}),
              HasSubstr("states 'CPU' itself; leave out --device or correct it"));
  EXPECT_THAT(denied({.batch = 2}), HasSubstr("states 1 itself; leave out --batch or correct it"));
  EXPECT_THAT(denied({.input_tokens = 2}), HasSubstr("states 0 itself; leave out --input"));
  EXPECT_THAT(denied({.output_tokens = 2}), HasSubstr("states 0 itself; leave out --output"));
}

// Quotes as Python's csv module writes them, a carriage return at the end, another framework.
TEST(LlmBenchCsv, cells_may_be_quoted_and_counts_are_counts) {
  const std::string head =
      "iteration,model,framework,device,input_size,output_size,prompt_idx,batch_size,precision,"
      "1st_latency(ms),2nd_avg_latency(ms)\r\n";
  const auto [steps, unit, in_file, taken, left_out] =
      openvino_bench_steps(head +
                               "1,\"a \"\"b\"\", c\",ov,CPU,32,16,0,2,\"\",50,10\r\n"
                               "1,m,ov,CPU,64,16,1,2,,60,\r\n",
                           "r");
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].model, "a \"b\", c");
  EXPECT_EQ(steps[0].how, "latency of the first token, prompt 0");
  EXPECT_EQ(steps[1].how, "mean latency of the other tokens, prompt 0");
  EXPECT_EQ(steps[2].how, "latency of the first token, prompt 1");
  EXPECT_EQ(steps[2].input_tokens, 64);
  EXPECT_EQ(steps[0].output_tokens, 16);
  const auto bad = [&](const std::string& row) {
    return refusal([&] { openvino_bench_steps(head + row, "r"); });
  };
  EXPECT_THAT(bad("1,m,pt,CPU,32,16,0,2,,50,10\n"), StrEq("r:2: 'pt' is not OpenVINO ('ov')"));
  EXPECT_THAT(bad("1,m,ov,CPU,-1,16,0,2,,50,10\n"), StrEq("r:2:input_size: '-1' is no count"));
  EXPECT_THAT(bad("1,m,ov,CPU,1.1e15,16,0,2,,50,10\n"), HasSubstr("is no count"));
  EXPECT_THAT(bad("1,m,ov,CPU,x,16,0,2,,50,10\n"), StrEq("r:2:input_size: 'x' is no count"));
  EXPECT_THAT(bad("0.5,m,pt,CPU,32,16,0,2,,50,10\n"), HasSubstr("no iteration behind the warm-up"));
}

}  // namespace
}  // namespace halmark::deploy
