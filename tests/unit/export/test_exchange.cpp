#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json/json.hpp"
#include "export/exchange/exchange.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark::exports {
namespace {

using testing::HasSubstr;

MetricTable two_kernels() {
  RunReport report{.title = "small", .command = "halmark bench", .fingerprint = "cpu-1"};
  KernelPoint fast{
      .key = "gemm \"a\"", .op = "gemm", .place = "cpu:0", .status = Status::ok, .rounds = 3};
  fast.duration_ns = 2000, fast.low_ns = 1900, fast.high_ns = 2100;
  fast.matmul_flops = 4000, fast.bytes = 1000, fast.mfu = 0.5;
  report.kernels = {fast, {.key = "gemm b", .status = Status::out_of_memory, .reason = "no"}};
  return kernel_rows(report, {});
}

TEST(Exchange, rates_follow_from_the_duration_and_failures_are_counted_apart) {
  const MetricTable t = two_kernels();
  ASSERT_EQ(t.rows.size(), 1u);
  EXPECT_EQ(t.left.at("out_of_memory"), 1);
  std::map<std::string, double> values;
  for (const Metric& m : t.rows[0].metrics) values[m.name] = m.value;
  EXPECT_DOUBLE_EQ(values.at("flops_per_s"), 2e9);  // 4000 in 2 us
  EXPECT_DOUBLE_EQ(values.at("bytes_per_s"), 5e8);
}

TEST(Exchange, google_benchmark_has_one_row_per_case_and_its_caches) {
  const Json out = Json::parse(gbench_text(two_kernels()));
  EXPECT_TRUE(out["context"]["caches"].is_array());
  ASSERT_EQ(out["benchmarks"].size(), 1u);
  EXPECT_EQ(out["benchmarks"][0]["real_time"], 2000.0);
  EXPECT_EQ(out["benchmarks"][0]["time_unit"], "ns");
}

TEST(Exchange, an_action_gets_smaller_and_bigger_apart) {
  const Json smaller = Json::parse(gha_text(two_kernels(), false));
  ASSERT_EQ(smaller.size(), 1u);
  EXPECT_EQ(smaller[0]["unit"], "ns");
  EXPECT_EQ(smaller[0]["range"], "± 5 %");
  EXPECT_EQ(Json::parse(gha_text(two_kernels(), true)).size(), 3u);
}

TEST(Exchange, bencher_gets_the_interval_of_the_figure) {
  const Json out = Json::parse(bmf_text(two_kernels()));
  EXPECT_EQ(out["gemm \"a\""]["latency"]["lower_value"], 1900.0);
  EXPECT_EQ(out["gemm \"a\""]["latency"]["upper_value"], 2100.0);
}

TEST(Exchange, prometheus_has_base_units_and_escaped_labels) {
  const std::string out = prometheus_text(two_kernels());
  EXPECT_THAT(out, HasSubstr("halmark_kernel_duration_seconds{case=\"gemm \\\"a\\\"\""));
  EXPECT_THAT(out, HasSubstr("} 2e-06\n"));
  EXPECT_THAT(out, HasSubstr("halmark_kernel_flops_per_second"));
}

TEST(Exchange, an_empty_table_and_another_format_are_refused) {
  EXPECT_EQ(test::error_of([] { exchange_files("csv", {}); }).exit_code(), ExitCode::refused);
  EXPECT_THAT(test::error_of([] { exchange_files("xls", two_kernels()); }).line(),
              HasSubstr("csv"));
}

}  // namespace
}  // namespace halmark::exports
