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
  EXPECT_THAT(served_text(report_of({ttft, tpot}), false), Not(HasSubstr("77.0 GB")));
  EXPECT_THAT(served_text(report_of({ttft, memory}), false), HasSubstr("77.0 GB"));
  EXPECT_THAT(served_markdown(report_of({memory})), HasSubstr("| 77.0 GB |"));
  const std::string once = served_text(report_of({memory}, {{memory, 80e9, ""}}), false);
  EXPECT_EQ(once.find("77.0 GB"), once.rfind("77.0 GB"));
  EXPECT_THAT(served_text(report_of({ttft}, {{memory, 80e9, ""}}), false), HasSubstr("77.0 GB"));
}

// 10 MiB are no reason for a line; files have every point.
TEST(ServedReport, points_that_hardly_differ_share_a_line) {
  using enum Objective;
  ServedReport report = report_of({ttft, memory});
  report.front.push_back(report.front.front());
  ServedPoint& other = report.front.back();
  other.configuration.served->concurrency = 16;
  other.estimate.figures.ttft_ns *= 1.001;
  other.estimate.figures.memory_bytes -= 10 << 20;
  const std::string text = served_text(report, false);
  EXPECT_THAT(text, HasSubstr("x8 t64"));
  EXPECT_THAT(text, Not(HasSubstr("x16 t64")));
  EXPECT_THAT(text, HasSubstr("and 1 that hardly differs from these"));
  EXPECT_THAT(served_markdown(report), HasSubstr("x16 t64"));
  other.estimate.figures.memory_bytes = 70'000'000'000;
  const std::string apart = served_text(report, false);
  EXPECT_THAT(apart, HasSubstr("x16 t64"));
  EXPECT_THAT(apart, Not(HasSubstr("hardly")));
}

}  // namespace
}  // namespace halmark
