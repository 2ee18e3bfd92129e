// How a report ends: what was found, whether to believe it, and what to try next.
#include "report/closing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

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
  for (Validation& run : report.validations) {
    run.status = Status::ok;
    run.predicted_ns = 102e6;
    run.measured_ns = 104e6;
    run.composition->error = 0.02;
  }
  return report;
}

// What was printed held at 20 GB/s, and the run met 12.
void run_at_another_speed(RunReport& report) {
  Validation& run = report.validations[1];
  run.measured_ns = 137e6;
  run.predicted_state =
      StateInterval{.state = {20e9, {}}, .step_ns = 102e6, .memory_ns = 90e6, .ns = {100e6, 104e6}};
  run.composition->bytes_per_s = 12e9;
}

void take_all_times_from(Provenance source, RunReport& report) {
  for (Evaluation& evaluation : report.evaluations) {
    evaluation.estimate->provenance = source;
    for (OperatorShare& share : evaluation.estimate->operators) share.provenance = source;
  }
  report.validations.clear();
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

// A sweep that was only priced has no row that anything could have disturbed.
TEST(Closing, of_a_front_that_was_not_measured_says_so) {
  RunReport report = two_points();
  take_all_times_from(Provenance::roofline, report);
  EXPECT_EQ(closing_lines(report)[1], "basis: nothing was measured here; times from roofline");
  EXPECT_THAT(closing_lines(report)[2], HasSubstr("halmark export"));
  for (const std::string& text :
       {report_text(report, false), report_markdown(report), report_html(report)}) {
    EXPECT_THAT(text, testing::Not(HasSubstr("point passed the validity gate"))) << text;
  }
  for (const FrontPoint& point : report.front) {
    report.evaluations[point.evaluation].estimate->operators.front().provenance =
        Provenance::imported;
  }
  EXPECT_EQ(closing_lines(report)[1],
            "basis: nothing was measured here; times from imported, roofline");
  report.evaluations[report.front[0].evaluation].estimate->operators[0].provenance =
      Provenance::measured;
  EXPECT_EQ(closing_lines(report)[1],
            "basis: measured in part, the rest is imported, roofline; not run as a whole");
  EXPECT_THAT(closing_lines(report)[2], HasSubstr("--validate"));
}

TEST(Closing, trusts_no_front_whose_runs_speak_against_it) {
  struct Case {
    const char* what;
    std::function<void(RunReport&)> change;
    const char *basis, *next;
  };
  const Case cases[] = {
      {"no run", [](RunReport& r) { r.validations.clear(); }, "not run as a whole",
       "halmark tune SWEEP --validate"},
      {"102 ms printed, 137 ms run", [](RunReport& r) { r.validations[1].measured_ns = 137e6; },
       "runs differ from the printed latency: 102 ms printed, 137 ms run (-25.5 %)",
       "SWEEP --rerun --validate"},
      {"the same with memory of two speeds", run_at_another_speed,
       "runs differ from the printed latency: 102 ms printed, 137 ms run (-25.5 %; memory or "
       "cores ran at another speed)",
       "SWEEP --rerun --validate"},
      {"two points run of four", [](RunReport& r) { r.validations.resize(2); },
       "composition error: UNDECIDED (2 points with pairs of run and kernels, 3 needed)",
       "SWEEP --validate=all"},
      {"a front of two points, both run",
       [](RunReport& r) {
         std::erase_if(r.front, [&](const FrontPoint& point) {
           return r.evaluations[point.evaluation].configuration.workload.phase != Phase::decode;
         });
         r.validations.resize(2);
       },
       "composition error: UNDECIDED (2 points with pairs of run and kernels, 3 needed)",
       "halmark export"},
      {"a suspect run", [](RunReport& r) { r.validations[0].status = Status::suspect; },
       "1 of 4 runs are suspect or have no time", "SWEEP --rerun --validate"},
      {"a run in turns on a core", [](RunReport& r) { r.validations[2].is_oversubscribed = true; },
       "1 of 4 runs are suspect or have no time", "SWEEP --rerun --validate"},
      {"one sum of kernels is wrong",
       [](RunReport& r) { r.validations[3].composition->error = -0.2; },
       "composition error: median 2.00 %, worst 20.0 % over 4 points (exceeded 5 % and 15 %)",
       "SWEEP --rerun --validate"},
      {"just within", [](RunReport& r) { r.validations[1].measured_ns = 102e6 / 0.86; },
       "trustworthy", "halmark export"},
  };
  for (const Case& c : cases) {
    RunReport report = two_points();
    ASSERT_EQ(report.validations.size(), 4u);
    c.change(report);
    const auto lines = closing_lines(report);
    EXPECT_EQ(lines[1], std::string("basis: ") + c.basis) << c.what;
    EXPECT_THAT(lines[2], HasSubstr(c.next)) << c.what;
    EXPECT_THAT(lines[2], testing::Not(HasSubstr("close other"))) << "no row was disturbed";
  }
  RunReport report = two_points();
  report.front.front().is_suspect = true;
  for (KernelPoint& kernel : report.kernels) kernel.status = Status::ok;
  report.validations.clear();
  EXPECT_EQ(closing_lines(report)[1], "basis: suspect rows; not run as a whole");
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
