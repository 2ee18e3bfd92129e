// Where times are from: shares of a step, and tables by the number that a figure cites.
// What was not tried, beside the front that it could enter: the same in text, page, Markdown and
// JSON.
#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "report/report.hpp"
#include "report/text/quantity.hpp"
#include "report/times_from.hpp"
#include "report/untried_view.hpp"
#include "synthetic_report.hpp"
#include "tests/unit/expect.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// 1000 ns: 600 and 150 of two series, 250 of nothing but the roofline, which a table contradicts.
Estimate estimate() {
  OperatorShare gemm{.name = "gemm", .ns = 600}, norm{.name = "norm", .ns = 150},
      rest{.name = "rest", .ns = 250};
  gemm.provenance = norm.provenance = Provenance::imported;
  gemm.origin = "a.csv: gemm bf16";
  norm.origin = "b.csv: norm";
  rest.quarantined = "3 ns is below the bound";
  Estimate out;
  out.operators = {gemm, norm, rest};
  return out;
}

// The second series of a.csv is never asked; the first of b.csv was passed over.
std::vector<TableUse> tables() {
  return {{.name = "a.csv",
           .file = "in/a.csv",
           .device = "gpu",
           .rows = 9,
           .skipped = {{"no time", 2}},
           .passed_over = {},
           .series = {{.name = "gemm bf16", .points = 4, .exact = 1, .interpolated = 2},
                      {.name = "gemm f32", .points = 3}}},
          {.name = "b.csv",
           .file = "in/b.csv",
           .rows = 5,
           .passed_over = "another device",
           .series = {{.name = "copy", .points = 1, .passed_over = 1, .reason = "too fast"},
                      {.name = "norm", .points = 2, .interpolated = 1}}}};
}

TEST(TimesFrom, parts_of_a_step_are_shares_of_its_sum) {
  const TimesFrom from = times_from(estimate());
  EXPECT_DOUBLE_EQ(from.provenance.at(Provenance::imported), 0.75);
  EXPECT_DOUBLE_EQ(from.provenance.at(Provenance::roofline), 0.25);
  EXPECT_DOUBLE_EQ(from.series.at("a.csv: gemm bf16"), 0.6);
  EXPECT_EQ(from.series.size(), 2u) << "what has no origin is of no series";
  EXPECT_EQ(from.quarantined, 1u);
  EXPECT_EQ(from.example, "rest: 3 ns is below the bound");
  EXPECT_TRUE(times_from({}).provenance.empty());
}

TEST(TimesFrom, the_first_that_was_quarantined_is_the_example) {
  TimesFrom from;
  Latency bad;
  bad.quarantined = "first";
  from.add("a", 1, bad);
  bad.quarantined = "second";
  from.add("b", 1, bad);
  EXPECT_EQ(from.quarantined, 2u);
  EXPECT_EQ(from.example, "a: first");
}

TEST(TimesFrom, a_figure_cites_the_series_by_the_number_of_its_line) {
  const TimesFrom from = times_from(estimate());
  EXPECT_EQ(report::times_text(from, tables()),
            "imported 75.0 %, roofline 25.0 %; of [1] 60.0 %, [2] 15.0 %; 1 quarantined");
  EXPECT_EQ(report::series_text(from), "a.csv: gemm bf16 60.0 %; b.csv: norm 15.0 %");
  EXPECT_EQ(report::shares_text({{Provenance::measured, 1.0}, {Provenance::roofline, 0.0}}),
            "measured")
      << "a share of all is none to tell apart";
}

// Interpolation in a table that a user names stays interpolation, whatever its file is called.
TEST(TimesFrom, a_forecast_is_of_shipped_tables_alone) {
  const std::map<Provenance, double> shares = {{Provenance::interpolated, 1.0}};
  std::vector<TableUse> mine = {{.name = "forecast of mine.csv", .file = "forecast of mine.csv"}};
  EXPECT_EQ(report::shares_text(shares, mine), "interpolated");
  mine.push_back({.name = "shipped", .file = "shipped", .is_forecast = true});
  EXPECT_EQ(report::shares_text(shares, mine), "interpolated");
  mine.erase(mine.begin());
  EXPECT_EQ(report::shares_text(shares, mine), "forecast");
}

TEST(TimesFrom, every_table_says_what_of_it_was_used_and_what_was_not) {
  EXPECT_THAT(report::table_lines(tables()),
              ElementsAre("in/a.csv: 9 rows measured by others on gpu",
                          "  [1] gemm bf16: 4 points, gave 1 kernels and 2 more by interpolation",
                          "  1 more series gave no time", "  2 rows skipped: no time",
                          "in/b.csv: 5 rows measured by others", "  passed over: another device",
                          "  - copy: 1 points", "      passed over 1: too fast",
                          "  [2] norm: 2 points, gave 0 kernels and 1 more by interpolation"));
}

TEST(TimesFrom, the_document_has_an_example_only_of_what_was_quarantined) {
  EXPECT_EQ(report::times_json(times_from(estimate()))["quarantined_example"],
            "rest: 3 ns is below the bound");
  EXPECT_FALSE(report::times_json({}).contains("quarantined_example"));
  EXPECT_EQ(report::times_json(times_from(estimate()))["provenance"]["imported"], 0.75);
}

UntriedConfiguration untried(std::int64_t batch, double ms) {
  Configuration c = test::synthetic_report().evaluations.front().configuration;
  c.workload.batch = batch;
  return {.configuration = c,
          .step_ns = ms * 1e6,
          .tokens_per_s = 26.25,
          .memory_bytes_total = 1 << 30,
          .probability = 0.4};
}

RunReport with_untried(std::size_t entering, const std::string& reason = "") {
  RunReport report = test::synthetic_report();
  Untried decode{.phase = Phase::decode, .count = 22, .reason = reason};
  for (std::size_t i = 0; i < entering; ++i) {
    decode.could_enter.push_back(
        untried(static_cast<std::int64_t>(301 + i), 38 + static_cast<double>(i)));
  }
  report.untried.push_back(std::move(decode));
  return report;
}

TEST(UntriedView, names_what_could_enter_in_every_format) {
  const RunReport report = with_untried(2);
  const std::string sentence =
      "22 of " + std::to_string(22 + report::phase_view_of(report, Phase::decode).evaluations) +
      " configurations were not tried; 2 of them could still enter this front, best bound first";
  const std::string label =
      report::deployment_label(report.untried[0].could_enter[0].configuration, report);
  EXPECT_THAT(label, HasSubstr("b301 "));
  for (const std::string& text :
       {report_text(report, false), report_markdown(report), report_html(report)}) {
    EXPECT_THAT(text, test::has_all({sentence, "best bound", "38.0 ms", "40.0 %"}));
    EXPECT_LT(text.find("b301 "), text.find("b302 "));
  }
  const Json data = report_json(report);
  ASSERT_EQ(data["untried"].size(), 1u);
  const Json& decode = data["untried"][0];
  EXPECT_THAT(decode, test::HasValues(R"({"/phase": "decode", "/count": 22,
      "/could_enter/0/step_ns": 38e6, "/could_enter/0/probability": 0.4})"));
  ASSERT_EQ(decode["could_enter"].size(), 2u);
  EXPECT_EQ(decode["could_enter"][0]["label"], label);
  EXPECT_EQ(decode["could_enter"][0]["key"], report.untried[0].could_enter[0].configuration.key());
}

TEST(UntriedView, a_terminal_has_eight_and_says_how_many_more_there_are) {
  const std::string text = report_text(with_untried(11), false);
  EXPECT_THAT(text, test::has_all({"b308 ", "and 3 more: --json has them\n"}));
  EXPECT_THAT(text, Not(HasSubstr("b309 ")));
  EXPECT_THAT(report_html(with_untried(11)), HasSubstr("b311 "));
}

TEST(UntriedView, says_where_nothing_could_enter_nothing_has_a_bound_or_all_was_tried) {
  EXPECT_THAT(report_text(with_untried(0), false),
              HasSubstr("configurations were not tried; none of them could enter this front\n"));
  const std::string unpriced = report_text(with_untried(0, "no peaks"), false);
  EXPECT_THAT(unpriced, HasSubstr("were not tried and have no bound (no peaks): probabilities of "
                                  "this front are among those tried"));
  const RunReport all = test::synthetic_report();
  EXPECT_THAT(report_text(all, false), Not(HasSubstr("not tried")));
  EXPECT_EQ(report_json(all)["untried"], Json::array());
}

// What is not certain is not printed as if it were.
TEST(UntriedView, a_probability_below_one_never_reads_100_percent) {
  EXPECT_EQ(report::probability_text(1), "100.0 %");
  EXPECT_EQ(report::probability_text(0.99999), "99.9 %");
  EXPECT_EQ(report::probability_text(0.75), "75.0 %");
  EXPECT_EQ(report::probability_text(0), "0.00 %");
}

}  // namespace
}  // namespace halmark
