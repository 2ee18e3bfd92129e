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

}  // namespace
}  // namespace halmark
