// Fields as vllm/benchmarks/latency.py and serve.py write them; the figures of serve are those of
// the example in docs/benchmarking/cli.md of vLLM (ten requests of ShareGPT).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/bench/engine_bench.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark::deploy {
namespace {

using testing::HasSubstr;

const StatedFacts batch = {.batch = 8, .input_tokens = 32, .output_tokens = 128};

std::string latency(const std::string& average, const std::string& latencies) {
  return "{\"avg_latency\": " + average + ", \"latencies\": " + latencies +
         ", \"percentiles\": {\"50\": 2.0}}";
}

std::string refusal(const std::string& text, const StatedFacts& stated = batch) {
  return test::error_of([&] { vllm_bench_steps(text, "r.json", stated); }).line();
}

const std::string served = R"({"date": "20250601-120000", "backend": "vllm",
 "model_id": "NousResearch/Hermes-3-Llama-3.1-8B", "num_prompts": 10, "request_rate": "inf",
 "max_concurrency": 4, "duration": 5.78, "completed": 10, "total_input_tokens": 1369,
 "total_output_tokens": 2212, "mean_ttft_ms": 71.54, "median_ttft_ms": 73.88, "std_ttft_ms": 5.5,
 "p99_ttft_ms": 79.49, "mean_tpot_ms": 7.91, "median_tpot_ms": 7.96, "std_tpot_ms": 0.12,
 "p99_tpot_ms": 8.03, "mean_itl_ms": 7.74})";

TEST(VllmLatency, is_the_whole_batch_with_the_spread_of_its_samples) {
  const auto [steps, unit, in_file, taken, left_out] =
      vllm_bench_steps(latency("2.0", "[1.0, 2.0, 3.0]"), "r.json", batch);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].phase, "request");
  EXPECT_DOUBLE_EQ(steps[0].step_ns, 2e9);
  EXPECT_NEAR(*steps[0].deviation_ns, 0.816496580927726e9, 1);  // numpy.std([1, 2, 3])
  EXPECT_EQ(steps[0].batch, 8);
  EXPECT_EQ(steps[0].samples, 3);
}

TEST(VllmLatency, without_its_batch_says_nothing) {
  EXPECT_THAT(refusal(latency("2.0", "[2.0]"), {}), HasSubstr("--batch, --input and --output"));
}

TEST(VllmLatency, has_a_mean_that_is_that_of_its_samples) {
  EXPECT_THAT(refusal(latency("2.5", "[1.0, 2.0, 3.0]")),
              HasSubstr("r.json:.latencies: its mean is 2 s, and avg_latency says 2.5"));
  EXPECT_THAT(refusal(latency("2.0", "[1.0, 3.0, \"x\"]")), HasSubstr("a number is expected"));
  EXPECT_THAT(refusal(latency("NaN", "[1.0]")), HasSubstr("r.json:1:"));
  EXPECT_THAT(refusal(latency("0", "[0]")), HasSubstr("is no time of a step"));
}

TEST(VllmServe, gives_what_clients_saw_of_prompts_and_later_tokens) {
  const auto [steps, unit, in_file, taken, left_out] = vllm_bench_steps(served, "r.json", {});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].phase, "prefill");
  EXPECT_DOUBLE_EQ(steps[0].step_ns, 71.54e6);
  EXPECT_DOUBLE_EQ(*steps[0].deviation_ns, 5.5e6);
  EXPECT_EQ(steps[0].samples, 10);
  EXPECT_EQ(steps[0].batch, 4);
  EXPECT_THAT(steps[0].how, HasSubstr("queueing included"));
  EXPECT_EQ(steps[1].phase, "decode");
  EXPECT_DOUBLE_EQ(steps[1].step_ns, 7.91e6);
  EXPECT_DOUBLE_EQ(*steps[1].deviation_ns, 0.12e6);
  EXPECT_EQ(steps[1].batch, 4);
  EXPECT_EQ(steps[1].input_tokens, 137);
  EXPECT_EQ(steps[1].output_tokens, 221);
  EXPECT_EQ(steps[1].samples, 10);
  EXPECT_EQ(vllm_bench_steps("\xef\xbb\xbf" + served, "r.json", {}).steps, steps);
}

TEST(VllmServe, that_served_nobody_is_refused) {
  std::string text = served;
  text.replace(text.find("\"completed\": 10"), 15, "\"completed\": 0");
  EXPECT_THAT(refusal(text), HasSubstr("r.json:.completed: no request was completed"));
}

TEST(VllmBench, other_documents_are_refused) {
  EXPECT_THAT(refusal("{\"a\": 1}"), HasSubstr("neither avg_latency nor mean_ttft_ms"));
  EXPECT_THAT(refusal("[]"), HasSubstr("no output of vllm bench"));
}

TEST(VllmServe, counts_the_requests_that_failed) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = served;
    text.replace(text.find(from), from.size(), to);
    return vllm_bench_steps(text, "r.json", {});
  };
  const BenchRead some = with("\"num_prompts\": 10", "\"num_prompts\": 13");
  EXPECT_EQ(some.unit, "requests");
  EXPECT_EQ(some.taken, 10);
  EXPECT_EQ(some.in_file, 13);
  EXPECT_THAT(some.left_out, testing::ElementsAre("3 that failed"));
  EXPECT_THAT(with("\"num_prompts\": 10", "\"num_prompts\": 12, \"failed\": 2").left_out,
              testing::ElementsAre("2 that failed"));
  EXPECT_THAT(vllm_bench_steps(served, "r.json", {}).left_out, testing::IsEmpty());
  EXPECT_THAT(test::error_of([&] {
                with("\"num_prompts\": 10", "\"num_prompts\": 12, \"failed\": 1");
              }).line(),
              HasSubstr("11 requests completed or failed of 12"));
  EXPECT_THAT(test::error_of([&] { with("\"num_prompts\": 10", "\"num_prompts\": 5"); }).line(),
              HasSubstr("10 requests completed or failed of 5"));
}

}  // namespace
}  // namespace halmark::deploy
