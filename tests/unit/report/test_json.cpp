#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/json/json.hpp"
#include "report/report.hpp"
#include "synthetic_report.hpp"

namespace halmark {
namespace {

Json round_trip(const RunReport& report) {
  return parse_json(dump_json(report_json(report)), "report.json");
}

TEST(json_report, passes_the_strict_reader) {
  const Json out = round_trip(test::synthetic_report());
  EXPECT_EQ(out.at("front").size(), 6u);
  EXPECT_EQ(out.at("status_counts").at("evaluations").at("refused"), 1);
  EXPECT_EQ(out.at("status_counts").at("kernels").at("crashed"), 1);
}

TEST(json_report, a_front_point_has_the_documented_fields) {
  const RunReport report = test::synthetic_report();
  const Json point = round_trip(report).at("front").at(0);
  const Evaluation& e = report.evaluations[report.front[0].evaluation];
  EXPECT_EQ(point.at("config").at("batch"), e.configuration.workload.batch);
  EXPECT_EQ(point.at("config").at("tp"), e.configuration.parallel.tp);
  EXPECT_EQ(point.at("config").at("precision").at("qkv"),
            std::string(dtype_name(e.configuration.precision.qkv)));
  EXPECT_EQ(point.at("config").at("strategy").at("lm_head"), e.estimate->operators[2].strategy);
  EXPECT_DOUBLE_EQ(point.at("objectives").at("latency_ns"), e.estimate->step_ns);
  EXPECT_DOUBLE_EQ(point.at("objectives").at("tokens_per_s"), e.estimate->tokens_per_s);
  EXPECT_EQ(point.at("objectives").at("memory_bytes"), e.estimate->memory_bytes_total);
  EXPECT_DOUBLE_EQ(point.at("interval").at("low_ns"), e.estimate->low_ns);
  EXPECT_DOUBLE_EQ(point.at("interval").at("high_ns"), e.estimate->high_ns);
  EXPECT_DOUBLE_EQ(point.at("predicted_ns"), e.estimate->step_ns);
  EXPECT_DOUBLE_EQ(point.at("measured_ns"), *e.measured_ns);
  EXPECT_EQ(point.at("provenance"), "measured");
  EXPECT_EQ(point.at("bottleneck"), e.estimate->bottleneck);
}

TEST(json_report, an_absent_figure_is_null_with_its_reason) {
  RunReport report = test::synthetic_report();
  report.validations.clear();
  for (Evaluation& e : report.evaluations) e.measured_ns.reset();
  Estimate& estimate = *report.evaluations[report.front[0].evaluation].estimate;
  estimate.mfu.reset();
  estimate.mfu_reason = "no measured peak for bf16";
  const Json point = round_trip(report).at("front").at(0);
  EXPECT_TRUE(point.at("measured_ns").is_null());
  EXPECT_EQ(point.at("measured_ns_reason"), "never confronted with a run");
  EXPECT_TRUE(point.at("mfu").is_null());
  EXPECT_EQ(point.at("mfu_reason"), "no measured peak for bf16");
}

TEST(json_report, a_failed_validation_gives_its_reason) {
  RunReport report = test::synthetic_report();
  for (Evaluation& e : report.evaluations) e.measured_ns.reset();
  report.validations[0].status = Status::timed_out;
  report.validations[0].reason = "deadline of 40 s";
  const Json point = round_trip(report).at("front").at(0);
  EXPECT_TRUE(point.at("measured_ns").is_null());
  EXPECT_EQ(point.at("measured_ns_reason"), "deadline of 40 s");
}

TEST(json_report, a_value_that_is_not_finite_becomes_null_with_a_reason) {
  RunReport report = test::synthetic_report();
  report.evaluations[0].estimate->lower_bound_ns = std::numeric_limits<double>::quiet_NaN();
  const Json estimate = round_trip(report).at("evaluations").at(0).at("estimate");
  EXPECT_TRUE(estimate.at("lower_bound_ns").is_null());
  EXPECT_EQ(estimate.at("lower_bound_ns_reason"), "not a finite number");
}

TEST(json_report, the_composition_error_carries_its_verdict) {
  RunReport report = test::synthetic_report();
  const Json decided = round_trip(report).at("composition_error");
  EXPECT_EQ(decided.at("points"), 6);
  EXPECT_EQ(decided.at("verdict"), "within");
  report.validations.resize(2);
  const Json open = round_trip(report).at("composition_error");
  EXPECT_EQ(open.at("verdict"), "UNDECIDED");
  EXPECT_TRUE(open.at("median").is_null());
  EXPECT_FALSE(open.at("median_reason").get<std::string>().empty());
}

TEST(json_report, the_same_value_gives_the_same_bytes) {
  EXPECT_EQ(dump_json(report_json(test::synthetic_report())),
            dump_json(report_json(test::synthetic_report())));
}

// What is absent says why, of a run, of its front and of its kernels.
TEST(json_report, every_figure_that_is_absent_has_a_reason) {
  RunReport report = test::synthetic_report();
  report.device.reset();
  Evaluation& first = report.evaluations[report.front[0].evaluation];
  first.estimate->mfu_datasheet.reset();
  KernelPoint& kernel = report.kernels.front();
  kernel.duration_ns.reset();
  kernel.low_ns.reset();
  kernel.mfu.reset();
  kernel.path_fraction.reset();
  kernel.mfu_datasheet.reset();
  kernel.mfu_reason = "no time";
  Json out = round_trip(report);
  EXPECT_TRUE(out.at("device").is_null());
  EXPECT_EQ(out.at("device_reason"), "no measured device file");
  EXPECT_EQ(out.at("front").at(0).at("mfu_datasheet_reason"),
            "no datasheet peak for this device, or one below what was measured");
  EXPECT_TRUE(out.at("front").at(0).at("membership").is_null());
  const Json& row = out.at("kernels").at(0);
  EXPECT_EQ(row.at("duration_ns_reason"), "no latency");
  EXPECT_EQ(row.at("ci_low_ns_reason"), "no latency");
  EXPECT_EQ(row.at("mfu_reason"), "no time");
  EXPECT_EQ(row.at("path_fraction_reason"), "no time");
  EXPECT_EQ(row.at("mfu_datasheet_reason"), "no time");
  EXPECT_EQ(row.at("clean_share_reason"), "its samples have no labels");
  EXPECT_FALSE(row.contains("busbw_bytes_per_s"));
  report.validations.resize(1);
  out = round_trip(report);
  EXPECT_EQ(out.at("prediction_error").at("worst_reason"),
            "fewer than 3 points passed the validity gate");
  EXPECT_EQ(out.at("prediction_error").at("points"), 1);
  EXPECT_FALSE(out.contains("tables"));
}

TEST(json_report, what_only_some_runs_have_is_there_where_they_have_it) {
  RunReport report = test::synthetic_report();
  Evaluation& first = report.evaluations[report.front[0].evaluation];
  first.configuration.parallel.cp = 2;
  first.configuration.parallel.stages = {10, 18};
  first.configuration.workload.routing_skew = 50;
  first.standing = FrontStanding{FrontClass::possible, 0.25};
  first.status = Status::suspect;
  report.front[0].ties = {"cpu:0 f32"};
  report.kernels[0].busbw_bytes_per_s = 3e9;
  report.kernels[0].algbw_bytes_per_s = 2e9;
  report.kernels[0].clean_share = 0.875;
  report.quarantined.emplace();
  Json out = round_trip(report);
  Json point;
  for (const Json& one : out.at("front")) {
    if (one.at("config").contains("cp")) point = one;
  }
  ASSERT_FALSE(point.is_null());
  EXPECT_EQ(point.at("config").at("cp"), 2);
  EXPECT_EQ(point.at("config").at("stages"), Json::parse("[10, 18]"));
  EXPECT_EQ(point.at("config").at("routing_skew"), 50);
  EXPECT_EQ(point.at("membership").at("probability"), 0.25);
  EXPECT_EQ(point.at("is_suspect"), true);
  EXPECT_EQ(point.at("ties"), Json::array({"cpu:0 f32"}));
  EXPECT_TRUE(point.contains("times_from"));
  EXPECT_EQ(out.at("kernels").at(0).at("busbw_bytes_per_s"), 3e9);
  EXPECT_EQ(out.at("kernels").at(0).at("algbw_bytes_per_s"), 2e9);
  EXPECT_EQ(out.at("kernels").at(0).at("clean_share"), 0.875);
  EXPECT_TRUE(out.contains("quarantined"));
  EXPECT_TRUE(out.contains("tables"));
  EXPECT_EQ(out.at("measuring_s"), 109.4);
}

}  // namespace
}  // namespace halmark
