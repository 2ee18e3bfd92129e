// The figures are those of "Output formats" in tools/llama-bench/README.md of llama.cpp: its JSON,
// beside which it prints tokens per second of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/bench/engine_bench.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::deploy {
namespace {

using testing::HasSubstr;

// One row as llama-bench writes it; `test`: the fields that tell one test from another.
std::string row(const std::string& test) {
  return R"({"build_commit": "8cf427ff", "build_number": 5163,
 "cpu_info": "AMD Ryzen 7 7800X3D 8-Core Processor", "gpu_info": "NVIDIA GeForce RTX 4080",
 "backends": "CUDA", "model_filename": "models/Qwen2.5-7B-Instruct-Q4_K_M.gguf",
 "model_type": "qwen2 7B Q4_K - Medium", "n_ubatch": 512, "n_threads": 8, )" +
         test + "}";
}
const std::string prefill =
    R"("n_prompt": 512, "n_gen": 0, "n_depth": 0, "avg_ns": 72135640, "stddev_ns": 1453752,
 "avg_ts": 7100.002165, "samples_ns": [74601900, 71632900, 71745200, 71952700, 70745500])";
const std::string decode =
    R"("n_prompt": 0, "n_gen": 128, "n_depth": 0, "avg_ns": 1076767880, "stddev_ns": 9449585,
 "avg_ts": 118.881588,
 "samples_ns": [1075361300, 1065089400, 1071761200, 1081934900, 1089692600])";

std::string in_lines(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text + '\n';
}

class LlamaBench : public testing::Test {
 protected:
  EngineImport read(const std::string& text, const StatedFacts& stated = {}) const {
    test::write_file(folder_ / "r.json", text);
    return read_bench("llama-bench", folder_ / "r.json", stated);
  }
  std::string refusal(const std::string& text, const StatedFacts& stated = {}) const {
    return test::error_of([&] { read(text, stated); }).line();
  }
  test::ScratchFolder folder_;
};

TEST_F(LlamaBench, steps_agree_with_the_rates_that_the_tool_prints_beside_them) {
  const EngineImport out = read('[' + row(prefill) + ',' + row(decode) + ']');
  ASSERT_EQ(out.steps.size(), 2u);
  EXPECT_EQ(out.steps[0].phase, "prefill");
  EXPECT_EQ(out.steps[1].phase, "decode");
  EXPECT_EQ(out.steps[0].how, "the prompt in parts of 512 tokens");
  EXPECT_EQ(out.steps[1].how, "mean of 128 tokens in a row");
  EXPECT_EQ(out.steps[1].input_tokens, 0);
  EXPECT_EQ(out.steps[1].output_tokens, 128);
  // Tokens over the time against the mean of the samples' rates: they differ by the spread squared.
  EXPECT_NEAR(512 / (out.steps[0].step_ns * 1e-9), 7100.002165, 7100 * 1e-3);
  EXPECT_NEAR(1 / (out.steps[1].step_ns * 1e-9), 118.881588, 119 * 1e-3);
  EXPECT_NEAR(*out.steps[1].deviation_ns / out.steps[1].step_ns, 9449585.0 / 1076767880, 1e-12);
  EXPECT_EQ(out.steps[1].samples, 5);
  EXPECT_EQ(out.steps[1].batch, 1);
  EXPECT_EQ(out.steps[1].engine_version, "b5163 (8cf427ff)");
  EXPECT_EQ(out.steps[1].device, "NVIDIA GeForce RTX 4080 (CUDA)");
}

TEST_F(LlamaBench, lines_of_json_say_the_same_as_the_list) {
  const EngineImport list = read('[' + row(prefill) + ',' + row(decode) + ']');
  const EngineImport lines = read(in_lines(row(prefill)) + '\n' + in_lines(row(decode)));
  EXPECT_EQ(list.steps, lines.steps);
}

// Whatever stands around the rows: line breaks within one, other programs' lines, another key.
TEST_F(LlamaBench, rows_are_found_in_what_is_around_them) {
  const auto steps = read('[' + row(prefill) + ',' + row(decode) + ']').steps;
  const EngineImport over_lines = read(row(prefill) + '\n' + row(decode) + '\n');
  EXPECT_EQ(over_lines.steps, steps);
  EXPECT_EQ(over_lines.taken, 2);
  const EngineImport logged =
      read("ggml_cuda_init: found 1 devices:\n  Device 0: {brace}\n" + in_lines(row(prefill)) +
           "[warn] slow\n" + in_lines(row(decode)) + "\nbuild: 8cf427ff\n");
  EXPECT_EQ(logged.steps, steps);
  EXPECT_EQ(logged.taken, 2);
  EXPECT_EQ(logged.in_file, 6);
  EXPECT_THAT(logged.left_out, testing::ElementsAre("4 lines of other programs"));
  EXPECT_EQ(read("{\"date\": \"x\", \"runs\": [" + row(prefill) + ',' + row(decode) + "]}").steps,
            steps);
  EXPECT_EQ(read("\xef\xbb\xbf[" + row(prefill) + ',' + row(decode) + ']').steps, steps);
  // A place is that of the file, whatever stands before it.
  EXPECT_THAT(refusal("log\nlog\n" + in_lines(row("\"n_prompt\": 1, \"n_gen\": x"))),
              HasSubstr("r.json:3:"));
}

TEST_F(LlamaBench, a_model_of_another_size_is_not_the_one_that_was_measured) {
  const auto stating = [&](const std::string& count, std::int64_t known, std::int64_t untied) {
    return refusal('[' + row("\"model_n_params\": " + count + ", " + decode) + ']',
                   {.model_id = "m", .parameters = known, .untied_parameters = untied});
  };
  constexpr std::int64_t qwen = 7'615'616'512;
  EXPECT_THAT(stating("20914757184", qwen, qwen),
              HasSubstr("r.json:[0].model_n_params: states 20.91 B parameters, and m has 7.616 B"));
  EXPECT_THAT(stating("8030261248", qwen, qwen), HasSubstr("states 8.03 B"));
  EXPECT_EQ(read('[' + row("\"model_n_params\": 7615616512, " + decode) + ']',
                 {.model_id = "m", .parameters = qwen, .untied_parameters = qwen})
                .steps[0]
                .model_id,
            "m");
  EXPECT_EQ(read('[' + row("\"model_n_params\": 8160876032, " + decode) + ']',
                 {.model_id = "m", .parameters = qwen, .untied_parameters = 8'160'000'000})
                .taken,
            1)
      << "a tied head that the file holds twice";
}

TEST_F(LlamaBench, a_file_that_is_damaged_is_refused_with_its_place) {
  const std::string whole = '[' + row(prefill) + ',' + row(decode) + ']';
  EXPECT_THAT(refusal(whole.substr(0, 300)), HasSubstr("r.json:4:"));
  EXPECT_THAT(refusal("{}"), HasSubstr("r.json:1: 'n_prompt' is missing"));
  EXPECT_THAT(refusal("{\"a\": 1}"), HasSubstr("r.json: this is JSON of another kind"));
  EXPECT_THAT(refusal('[' + row(prefill) + ",{}]"), HasSubstr("r.json:[1]: 'n_prompt' is missing"));
  EXPECT_THAT(refusal(row(R"("n_prompt": null, "n_gen": 0)")),
              HasSubstr("r.json:1.n_prompt: it is null; a number is expected"));
  EXPECT_THAT(refusal(in_lines(row(prefill)) + "{\"x\":}\n"), HasSubstr("r.json:2:6"));
  EXPECT_THAT(refusal("[]"), HasSubstr("no test is in it"));
  EXPECT_THAT(refusal("\"text\""), HasSubstr("not output of llama-bench"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("r.json:[0]: an object is expected"));
  EXPECT_THAT(refusal('[' + row(prefill) + ",1]"), HasSubstr("r.json:[1]: an object is expected"));
}

TEST_F(LlamaBench, figures_that_contradict_each_other_or_are_none_are_refused) {
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = decode;
    text.replace(text.find(from), from.size(), to);
    return refusal('[' + row(prefill) + ',' + row(text) + ']');
  };
  EXPECT_THAT(with("1076767880", "2076767880"), HasSubstr("r.json:[1].samples_ns: its mean is"));
  EXPECT_THAT(with("1076767880", "-5"), HasSubstr("r.json:[1].avg_ns: -5 ns is no time"));
  EXPECT_THAT(with("1076767880", "\"1\""), HasSubstr("r.json:[1].avg_ns: a number is expected"));
  EXPECT_THAT(with("9449585", "-1"), HasSubstr("is no deviation"));
  EXPECT_THAT(with("\"n_gen\": 128", "\"n_gen\": 1.5"), HasSubstr("1.5 is no count"));
  EXPECT_THAT(with("\"n_gen\": 128", "\"n_gen\": 0"), HasSubstr("a test of no token"));
  EXPECT_THAT(with("[1075361300, 1065089400, 1071761200, 1081934900, 1089692600]", "[]"),
              HasSubstr("there is no sample"));
}

TEST_F(LlamaBench, what_the_user_states_fills_gaps_and_contradicts_nothing) {
  const std::string text = '[' + row(decode) + ']';
  EXPECT_EQ(read(text, {.model_id = "qwen2.5-7b"}).steps[0].model_id, "qwen2.5-7b");
  EXPECT_THAT(refusal(text, {.engine_version = "b1"}), HasSubstr("--engine-version"));
  EXPECT_THAT(refusal(text, {.batch = 4}), HasSubstr("states 1 itself; leave out --batch"));
}

TEST(Bench, another_tool_is_refused_with_the_known_ones) {
  EXPECT_THAT(test::error_of([] { read_bench("lama-bench", "x", {}); }).line(),
              HasSubstr("did you mean 'llama-bench'"));
}

}  // namespace
}  // namespace halmark::deploy
