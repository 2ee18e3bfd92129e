// What a report of served loads shows of the objectives that were asked for.
#include "report/served_report.hpp"

#include <gmock/gmock.h>

namespace halmark {
namespace {

using testing::HasSubstr;
using testing::Not;

ServedReport report_of(std::vector<Objective> objectives, std::vector<ServiceLevel> levels = {}) {
  ServedReport out{.objectives = std::move(objectives), .levels = std::move(levels)};
  ServedPoint point;
  point.configuration.served = ServedLoad{.concurrency = 8, .token_budget = 64};
  point.estimate.figures = {.ttft_ns = 25e6, .tpot_ns = 4e6, .memory_bytes = 77'000'000'000};
  out.front.push_back(point);
  return out;
}

TEST(ServedReport, an_objective_without_a_column_of_its_own_gets_one) {
  using enum Objective;
  EXPECT_THAT(report_text(report_of({ttft, tpot}), false), Not(HasSubstr("77.0 GB")));
  EXPECT_THAT(report_text(report_of({ttft, memory}), false), HasSubstr("77.0 GB"));
  EXPECT_THAT(report_markdown(report_of({memory})), HasSubstr("| 77.0 GB |"));
  const std::string once = report_text(report_of({memory}, {{memory, 80e9, ""}}), false);
  EXPECT_EQ(once.find("77.0 GB"), once.rfind("77.0 GB"));
  EXPECT_THAT(report_text(report_of({ttft}, {{memory, 80e9, ""}}), false), HasSubstr("77.0 GB"));
}

// 10 MiB are no reason for a line; files have every point.
TEST(ServedReport, points_that_hardly_differ_share_a_line) {
  using enum Objective;
  ServedReport report = report_of({ttft, memory});
  report.front.push_back(report.front.front());
  ServedPoint& other = report.front.back();
  other.configuration.served->concurrency = 16;
  other.estimate.figures.ttft_ns *= 1.001;
  other.estimate.figures.memory_bytes += 10 << 20;
  const std::string text = report_text(report, false);
  EXPECT_THAT(text, HasSubstr("x8 t64"));
  EXPECT_THAT(text, Not(HasSubstr("x16 t64")));
  EXPECT_THAT(text, HasSubstr("and 1 between these, or within 1 %"));
  EXPECT_THAT(report_markdown(report), HasSubstr("x16 t64"));
  other.estimate.figures.memory_bytes = 70'000'000'000;
  const std::string apart = report_text(report, false);
  EXPECT_THAT(apart, HasSubstr("x16 t64"));
  EXPECT_THAT(apart, Not(HasSubstr("between these")));
}

// Thirty points of which all but the first are alike: the best of each objective and the choice
// stay.
TEST(ServedReport, the_ends_of_each_objective_and_the_choice_are_never_cut) {
  using enum Objective;
  ServedReport report = report_of({ttft, tokens_per_s_per_device});
  for (int i = 1; i < 30; ++i) {
    report.front.push_back(report.front.front());
    report.front.back().configuration.served->concurrency = 1000 + i;
    report.front.back().estimate.figures.ttft_ns *= 1 + 1e-5 * i;
    report.front.back().estimate.figures.tokens_per_s_per_device = 700 + 1e-3 * i;
  }
  report.chosen = Pick{.index = 7, .because = "why"};
  report.next = "halmark export --point 8";
  report.assumed = "assumed: 1 device (--devices)";
  const std::string text = report_text(report, false);
  EXPECT_THAT(text, HasSubstr("\n    1  x8 t64"));
  EXPECT_THAT(text, HasSubstr("\n   *8  x1007 t64"));
  EXPECT_THAT(text, HasSubstr("\n   30  x1029 t64"));
  EXPECT_THAT(text, Not(HasSubstr("x1015")));
  EXPECT_THAT(text.substr(0, text.find('\n')), HasSubstr("; assumed: 1 device (--devices)"));
  EXPECT_THAT(text, HasSubstr("\nchoice (*): point 8, x1007 t64 "));
  EXPECT_THAT(text, HasSubstr(": why\n700 tokens/s per device, TTFT "));
  EXPECT_THAT(
      text,
      HasSubstr("on the front by TTFT, tokens/s per device; next: halmark export --point 8\n"));
  EXPECT_EQ(report_json(report)["front"][7]["point"], 8);
  const std::string page = report_html(report);
  EXPECT_THAT(page, HasSubstr("x1015 t64")) << "a file has every point";
  EXPECT_THAT(page, HasSubstr("<p>choice (*): point 8, "));
  EXPECT_THAT(page, HasSubstr(">choice: x1007 t64 ")) << "the picture names it";
  std::size_t markers = 0;
  for (std::size_t at = 0; (at = page.find("<title>point ", at)) != std::string::npos; ++at) {
    ++markers;
  }
  EXPECT_EQ(markers, report.front.size()) << "the picture has every point";
}

// What times without an interval keep is no probability.
TEST(ServedReport, without_an_interval_there_is_no_probability) {
  using enum Objective;
  ServedReport report = report_of({ttft}, {{ttft, 30e6, ""}});
  EXPECT_FALSE(probability(report, report.front.front().estimate));
  EXPECT_THAT(report_text(report, false), Not(HasSubstr("P(SLO) ")));
  EXPECT_TRUE(report_json(report)["front"][0]["slo_probability"].is_null());
}

}  // namespace
}  // namespace halmark
