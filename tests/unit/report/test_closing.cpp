// How a report ends: what was found, whether to believe it, and what to try next.
#include "report/closing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/text/report_text.hpp"
#include "synthetic_report.hpp"

namespace halmark {
namespace {

using report::closing_lines;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// One decode point of 10 ms and 100 tokens/s, one of 40 ms and 300.
RunReport two_points() {
  RunReport report = test::synthetic_report({.batches = 2, .kernels = 4, .front_per_phase = 2});
  std::vector<Evaluation*> decode;
  for (const FrontPoint& point : report.front) {
    Evaluation& evaluation = report.evaluations[point.evaluation];
    if (evaluation.configuration.workload.phase == Phase::decode) decode.push_back(&evaluation);
  }
  decode.at(0)->estimate->step_ns = 10e6;
  decode.at(0)->estimate->tokens_per_s = 100;
  decode.at(1)->estimate->step_ns = 40e6;
  decode.at(1)->estimate->tokens_per_s = 300;
  for (FrontPoint& point : report.front) point.is_suspect = false;
  for (Evaluation& evaluation : report.evaluations) {
    if (evaluation.status == Status::suspect) evaluation.status = Status::ok;
  }
  return report;
}

TEST(Closing, names_the_most_tokens_and_the_shortest_step_of_the_front) {
  const auto lines = closing_lines(two_points());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], AllOf(StartsWith("found: decode "), HasSubstr("300 tokens/s"),
                              HasSubstr("the shortest step (10.0 ms a step, 100 tokens/s)")));
}

TEST(Closing, is_trustworthy_or_says_what_interfered) {
  RunReport report = two_points();
  EXPECT_EQ(closing_lines(report)[1], "basis: trustworthy");
  report.front.front().is_suspect = true;
  for (KernelPoint& kernel : report.kernels) kernel.status = Status::ok;
  EXPECT_EQ(closing_lines(report)[1], "basis: suspect rows") << "no kernel says why";
  for (std::size_t i = 0; i < 3; ++i) {
    report.kernels.at(i).status = i == 0 ? Status::invalid : Status::suspect;
    report.kernels[i].reason = i == 0 ? "load per CPU 3.1 above 1" : "steal 0.054 above 0.02";
  }
  EXPECT_THAT(closing_lines(report)[1], StartsWith("basis: steal (2 of "));
  EXPECT_THAT(closing_lines(report)[2], AllOf(HasSubstr("halmark doctor"), HasSubstr("--rerun")));
}

TEST(Closing, tells_what_to_try_next) {
  RunReport report = two_points();
  ASSERT_FALSE(report.validations.empty());
  EXPECT_THAT(closing_lines(report)[2], HasSubstr("halmark export"));
  report.validations.clear();
  EXPECT_THAT(closing_lines(report)[2], HasSubstr("--validate"));
  report.front.clear();
  EXPECT_THAT(closing_lines(report), testing::IsEmpty()) << "nothing was found";
}

TEST(Closing, ends_both_texts_of_a_report) {
  const RunReport report = two_points();
  const std::string whole = report_text(report, false), brief = brief_text(report, false, 120);
  for (const std::string& text : {whole, brief}) {
    EXPECT_LT(text.find("\nfound: "), text.find("\nbasis: "));
    EXPECT_LT(text.find("\nbasis: "), text.find("\nnext: "));
  }
  EXPECT_THAT(whole, HasSubstr("composition error"));
  EXPECT_THAT(brief, testing::Not(HasSubstr("composition error")));
}

}  // namespace
}  // namespace halmark
