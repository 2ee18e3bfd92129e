// Fields as llm_bench (openvino.genai tools/llm_bench/llm_bench_utils/output_json.py,
// output_csv.py) and benchmark_app (openvino samples/cpp/benchmark_app/main.cpp) write them. The
// figures of benchmark_app are those of the example with AUTO in OpenVINO's documentation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/bench/engine_bench.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark::deploy {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& text) {
  return test::error_of([&] { openvino_bench_steps(text, "r"); }).line();
}

std::string iteration(int number, double first, const std::string& later) {
  return "{\"iteration\": " + std::to_string(number) +
         ", \"input_size\": 32, \"infer_count\": 128, \"output_size\": 128, \"first_latency\": " +
         std::to_string(first) + ", \"second_avg_latency\": " + later + ", \"prompt_idx\": 0}";
}
std::string llm(const std::string& rows, const std::string& framework = "ov") {
  return R"({"metadata": {"model": "tiny-llama", "framework": ")" + framework +
         R"(", "device": "CPU", "precision": "OV_FP16-INT8", "num_beams": 1, "batch_size": 2},
 "perfdata": {"compile_time": 3.1, "results": [)" +
         rows + "]}}";
}

TEST(LlmBench, averages_leave_the_warm_up_out_as_the_tool_does) {
  const auto [steps, unit, in_file, taken, left_out] = openvino_bench_steps(
      llm(iteration(0, 999, "99") + ',' + iteration(1, 50, "10") + ',' + iteration(2, 54, "12")),
      "r");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].phase, "prefill");
  EXPECT_DOUBLE_EQ(steps[0].step_ns, 52e6);
  EXPECT_EQ(steps[1].phase, "decode");
  EXPECT_DOUBLE_EQ(steps[1].step_ns, 11e6);
  EXPECT_DOUBLE_EQ(*steps[1].deviation_ns, 1e6);
  EXPECT_EQ(steps[1].batch, 2);
  EXPECT_EQ(steps[1].samples, 2);
  EXPECT_EQ(steps[1].precision, "OV_FP16-INT8");
}

TEST(LlmBench, latencies_that_are_absent_are_not_times) {
  const auto [steps, unit, in_file, taken, left_out] =
      openvino_bench_steps(llm(iteration(1, 50, "-1")), "r");
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].phase, "prefill");
  EXPECT_THAT(refusal(llm(iteration(0, 50, "10"))), HasSubstr("no iteration behind the warm-up"));
  EXPECT_THAT(refusal(llm(iteration(1, 50, "10"), "pt")), HasSubstr("'pt' is not OpenVINO"));
}

const std::string header =
    "iteration,model,framework,device,pretrain_time(s),input_size,infer_count,generation_time(s),"
    "output_size,latency(ms),1st_latency(ms),2nd_avg_latency(ms),precision,prompt_idx,batch_size\n";
std::string csv_row(const std::string& number, const std::string& first, const std::string& later) {
  return number + ",\"tiny, llama\",ov,CPU,,32,128,1.4,128,11.0," + first + ',' + later +
         ",INT8,0,2\n";
}

TEST(LlmBench, a_report_in_csv_says_the_same) {
  const auto [steps, unit, in_file, taken, left_out] = openvino_bench_steps(
      header + csv_row("0", "999", "99") + csv_row("1", "50", "10") + csv_row("2", "54", "12") +
          csv_row("avg", "52", "11") + "input_size: Input token size,,,,,,,,,,,,,,\n",
      "r");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_DOUBLE_EQ(steps[0].step_ns, 52e6);
  EXPECT_DOUBLE_EQ(steps[1].step_ns, 11e6);
  EXPECT_EQ(steps[1].model, "tiny, llama");
  EXPECT_EQ(taken, 2);
  EXPECT_EQ(in_file, 5) << "every line behind the header";
  EXPECT_THAT(left_out, testing::ElementsAre("1 of warm-ups", "2 of averages and comments"));
}

TEST(LlmBench, a_report_in_csv_is_refused_with_its_line) {
  EXPECT_THAT(refusal("a,b\n1,2\n"), HasSubstr("r:1: no report of llm_bench"));
  EXPECT_THAT(refusal(header + csv_row("1", "x", "10")), HasSubstr("r:2:1st_latency(ms): 'x'"));
  EXPECT_THAT(refusal("iteration," + header + csv_row("1", "50", "10")),
              HasSubstr("r:1: column 'iteration' stands twice"));
  EXPECT_THAT(refusal(header + csv_row("1", "50", "10") + "2,short\n"), HasSubstr("r:3: 2 cells"));
  EXPECT_THAT(refusal(header), HasSubstr("no iteration behind the warm-up"));
  EXPECT_EQ(openvino_bench_steps(header + csv_row("1", "NA", "10"), "r").steps.size(), 1u);
}

std::string graph(const std::string& average) {
  return R"({"cmd_options": {"d": "AUTO"}, "configuration_setup": {"topology": "add_abc",
 "target_device": "AUTO", "precision": "f32", "batch_size": 1},
 "execution_results": {"execution_time": 120002.81, "iterations_num": 76254,
 "latency_median": 1.54, "latency_avg": )" +
         average + R"(, "latency_min": 0.14, "latency_max": 3.71, "throughput": 635.44}})";
}

TEST(BenchmarkApp, one_call_takes_what_its_rate_says_where_calls_follow_each_other) {
  const auto [steps, unit, in_file, taken, left_out] = openvino_bench_steps(graph("1.54"), "r");
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].phase, "inference");
  EXPECT_NEAR(steps[0].step_ns * 635.44, 1e9, 0.03e9);
  EXPECT_DOUBLE_EQ(*steps[0].most_ns, 3.71e6);
  EXPECT_EQ(steps[0].samples, 76254);
  EXPECT_THAT(refusal(graph("4.0")), HasSubstr("r:.execution_results.latency_avg: the mean lies"));
}

TEST(BenchmarkApp, a_failed_run_is_no_time) {
  EXPECT_THAT(
      refusal(R"({"configuration_setup": {}, "execution_results": {"error": "no device"}})"),
      HasSubstr("benchmark_app failed: no device"));
  EXPECT_THAT(refusal("{}"), HasSubstr("neither perfdata nor execution_results"));
}

// As version 2026.4.1 of the Python package wrote it.
const char* const packaged = R"report({"configuration_setup": {"topology": "Model1",
 "target device": "CPU", "precision": "UNSPECIFIED", "batch size": "1"}, "execution_results": {
 "total number of iterations": "192", "latency (ms)": "10.54", "avg latency": "10.25",
 "min latency": "2.30", "max latency": "22.63", "throughput": "95.82"}})report";

TEST(OpenVinoBench, the_app_of_the_python_package_writes_figures_as_text) {
  const auto [steps, unit, in_file, taken, left_out] = openvino_bench_steps(packaged, "r");
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].device, "CPU");
  EXPECT_EQ(steps[0].phase, "inference");
  EXPECT_DOUBLE_EQ(steps[0].step_ns, 10.25e6);
  EXPECT_DOUBLE_EQ(*steps[0].least_ns, 2.3e6);
  EXPECT_EQ(steps[0].samples, 192);
  std::string wrong = packaged;
  wrong.replace(wrong.find("10.25"), 5, "10,25");
  EXPECT_THAT(refusal(wrong), HasSubstr("'10,25' is no number"));
}

}  // namespace
}  // namespace halmark::deploy
