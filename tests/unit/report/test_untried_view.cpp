// What was not tried, beside the front that it could enter: the same in text, page, Markdown and
// JSON.
#include "report/untried_view.hpp"

#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "report/report.hpp"
#include "report/text/quantity.hpp"
#include "synthetic_report.hpp"
#include "tests/unit/expect.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;
using testing::Not;

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
