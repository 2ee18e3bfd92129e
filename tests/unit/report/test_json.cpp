#include <gmock/gmock.h>

#include <limits>

#include "core/json/json.hpp"
#include "report/report.hpp"
#include "report/sentences.hpp"
#include "synthetic_report.hpp"
#include "tests/unit/expect.hpp"

namespace halmark {
namespace {

using test::HasValues;
using testing::HasSubstr;
using testing::Not;

Json round_trip(const RunReport& report) {
  return parse_json(dump_json(report_json(report)), "report.json");
}

TEST(json_report, passes_the_strict_reader) {
  const Json out = round_trip(test::synthetic_report());
  EXPECT_EQ(out.at("front").size(), 6u);
  EXPECT_THAT(out, HasValues(R"({"/status_counts/evaluations/refused": 1,
      "/status_counts/kernels/crashed": 1})"));
}

TEST(json_report, an_absent_figure_is_null_with_its_reason) {
  RunReport report = test::synthetic_report();
  report.validations.clear();
  for (Evaluation& e : report.evaluations) e.measured_ns.reset();
  Estimate& estimate = *report.evaluations[report.front[0].evaluation].estimate;
  estimate.mfu.reset();
  estimate.mfu_reason = "no measured peak for bf16";
  const Json point = round_trip(report).at("front").at(0);
  EXPECT_THAT(point, HasValues(R"({"/measured_ns": null,
      "/measured_ns_reason": "never confronted with a run",
      "/mfu_reason": "no measured peak for bf16", "/mfu": null})"));
}

TEST(json_report, a_value_that_is_not_finite_becomes_null_with_a_reason) {
  RunReport report = test::synthetic_report();
  report.evaluations[0].estimate->lower_bound_ns = std::numeric_limits<double>::quiet_NaN();
  const Json estimate = round_trip(report).at("evaluations").at(0).at("estimate");
  EXPECT_THAT(estimate, HasValues(R"({"/lower_bound_ns": null,
      "/lower_bound_ns_reason": "not a finite number"})"));
}

TEST(json_report, the_composition_error_carries_its_verdict) {
  RunReport report = test::synthetic_report();
  const Json decided = round_trip(report).at("composition_error");
  EXPECT_THAT(decided, HasValues(R"({"/points": 6, "/verdict": "within"})"));
  report.validations.resize(2);
  const Json open = round_trip(report).at("composition_error");
  EXPECT_THAT(open, HasValues(R"({"/verdict": "UNDECIDED", "/median": null})"));
  EXPECT_FALSE(open.at("median_reason").get<std::string>().empty());
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
  EXPECT_THAT(out, HasValues(R"({"/device": null,
      "/device_reason": "no measured device file",
      "/front/0/mfu_datasheet_reason": "no datasheet peak for this device, or one below what was measured",
      "/front/0/membership": null})"));
  const Json& row = out.at("kernels").at(0);
  EXPECT_THAT(row, HasValues(R"({"/duration_ns_reason": "no latency",
      "/ci_low_ns_reason": "no latency", "/mfu_reason": "no time",
      "/path_fraction_reason": "no time", "/mfu_datasheet_reason": "no time",
      "/clean_share_reason": "its samples have no labels"})"));
  EXPECT_FALSE(row.contains("busbw_bytes_per_s"));
  report.validations.resize(1);
  out = round_trip(report);
  EXPECT_THAT(out, HasValues(R"({
      "/prediction_error/worst_reason": "fewer than 3 points passed the validity gate",
      "/prediction_error/points": 1})"));
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
  EXPECT_THAT(point, HasValues(R"({"/config/cp": 2, "/config/routing_skew": 50,
      "/membership/probability": 0.25, "/is_suspect": true, "/ties": ["cpu:0 f32"]})"));
  EXPECT_EQ(point.at("config").at("stages"), Json::parse("[10, 18]"));
  EXPECT_TRUE(point.contains("times_from"));
  EXPECT_THAT(out, HasValues(R"({"/kernels/0/busbw_bytes_per_s": 3e9,
      "/kernels/0/algbw_bytes_per_s": 2e9, "/kernels/0/clean_share": 0.875, "/measuring_s": 109.4})"));
  EXPECT_TRUE(out.contains("quarantined"));
  EXPECT_TRUE(out.contains("tables"));
}

// At which share of the best bandwidth figures were taken, in every format.

RunReport with_shares(const std::vector<std::optional<double>>& shares) {
  RunReport out{.title = "t", .model = "m"};
  for (const auto& share : shares) {
    KernelPoint kernel{.key = "k", .op = "gemm", .problem = "gemm m=1", .duration_ns = 1};
    kernel.bandwidth_share = share;
    if (!share) kernel.bandwidth_reason = "not recorded";
    out.kernels.push_back(kernel);
  }
  return out;
}

TEST(BandwidthShare, is_told_with_its_span) {
  const RunReport report = with_shares({0.52, 0.44, std::nullopt, 0.61});
  const std::string told =
      "memory while measuring: at 52.0 % of the best bandwidth (44.0 % .. 61.0 %, 3 kernels)";
  EXPECT_EQ(report::bandwidth_state_text(report), told);
  EXPECT_THAT(report_text(report, false), HasSubstr(told));
  EXPECT_THAT(report_markdown(report), HasSubstr("at 52.0 % of the best bandwidth"));
  EXPECT_THAT(report_html(report), HasSubstr("at 52.0 % of the best bandwidth"));
  const Json json = report_json(report);
  EXPECT_THAT(json, test::HasValues(R"({"/bandwidth_share/median": 0.52,
      "/bandwidth_share/low": 0.44, "/bandwidth_share/high": 0.61,
      "/kernels/0/bandwidth_share": 0.52, "/kernels/2/bandwidth_share_reason": "not recorded",
      "/kernels/2/bandwidth_share": null})"));
}

TEST(BandwidthShare, above_the_best_is_explained) {
  const std::string why = "; the best needs three probes";
  EXPECT_THAT(report::bandwidth_state_text(with_shares({0.9, 1.01})), HasSubstr(why));
  EXPECT_THAT(report::bandwidth_state_text(with_shares({0.9, 1.0})),
              Not(HasSubstr("three probes")));
}

TEST(BandwidthShare, is_not_told_where_nothing_is_known) {
  const RunReport report = with_shares({std::nullopt});
  EXPECT_EQ(report::bandwidth_state_text(report), "");
  for (const std::string& text : {report_text(report, false), report_markdown(report)}) {
    EXPECT_THAT(text, Not(HasSubstr("best bandwidth")));
  }
  EXPECT_TRUE(report_json(report)["bandwidth_share"].is_null());
  EXPECT_EQ(report_json(report)["bandwidth_share_reason"],
            "no kernel was measured beside reads of the memory");
}

TEST(BandwidthShare, peaks_of_one_occasion_are_marked) {
  RunReport report = with_shares({});
  report.device.emplace();
  report.device->peaks.push_back({.path = "f32_vector", .flops_per_s = 1e11});
  EXPECT_THAT(report_html(report), Not(HasSubstr("(provisional)")));
  report.device->peaks[0].is_provisional = true;
  EXPECT_THAT(report_html(report), HasSubstr("(provisional)"));
  EXPECT_EQ(report_json(report)["device"]["peaks"][0]["provisional"], true);
}

}  // namespace
}  // namespace halmark
