// Rows by hand, and the one answer that they are worth.
#include "judge/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../error_of.hpp"
#include "../kernels/written.hpp"
#include "judge/verdict_view.hpp"
#include "tune/stored/baseline.hpp"

namespace halmark::judge {
namespace {

using enum Status;
using testing::HasSubstr;

KernelCase gemm(const std::string& backend) {
  const char* shape = "m=8 n=16 k=32 src_dtype=f32 wei_dtype=f32 dst_dtype=f32";
  return {.problem = complete_problem({"gemm", test::written(shape)}), .backend = backend};
}

Measurement row(Status status, double ns = 1000, int round = 0,
                const std::string& backend = "judged") {
  Measurement out;
  out.kernel_case = gemm(backend);
  out.round = round;
  out.status = status;
  if (status != ok) out.reason = "reason";
  out.implementation.name = backend;
  out.duration_ns_median = ns;
  out.duration_ns_interval = {0.9 * ns, 1.1 * ns};
  return out;
}

Judged judged_source() {
  Judged out;
  out.source = "a.cpp";
  out.op = "gemm";
  return out;
}

Verdict verdict(std::vector<Measurement> rows, std::vector<Measurement> baseline = {}) {
  Judged judged = judged_source();
  judged.rows = std::move(rows);
  judged.baseline = std::move(baseline);
  return verdict_of(judged, {});
}

TEST(Verdict, accepts_what_no_gate_refuses) {
  const Verdict v = verdict({row(ok), row(ok, 1100, 1)});
  EXPECT_EQ(v.outcome, Outcome::accepted);
  EXPECT_EQ(exit_code_of(v), ExitCode::ok);
}

TEST(Verdict, refuses_one_wrong_answer_among_any_number_of_rounds) {
  const Verdict v =
      verdict({row(ok), row(ok, 1000, 1), row(wrong_result, 0, 2), row(quarantined, 1, 3)});
  EXPECT_EQ(v.outcome, Outcome::refused);
  EXPECT_EQ(v.gate, "correctness");
  EXPECT_EQ(exit_code_of(v), ExitCode::incorrect);
}

TEST(Verdict, refuses_false_times_of_half_of_the_rounds) {
  EXPECT_EQ(verdict({row(ok), row(ok, 1000, 1), row(quarantined, 1, 2)}).outcome,
            Outcome::accepted);
  Measurement tampered = row(quarantined, 1, 1);
  tampered.reason = "timer: a clock";
  const Verdict v = verdict({row(ok), tampered});
  EXPECT_EQ(v.outcome, Outcome::refused);
  EXPECT_EQ(v.gate, "time");
  EXPECT_EQ(v.reason, "timer: a clock");
  EXPECT_EQ(exit_code_of(v), ExitCode::gate_failed);
  EXPECT_EQ(verdict({row(quarantined)}).gate, "bound");
  EXPECT_EQ(v.points.at(0).score_reason, "the source was refused");
}

TEST(Verdict, is_open_where_the_machine_was_too_busy) {
  const Verdict spoilt = verdict({row(quarantined), row(invalid, 1000, 1), row(invalid, 1000, 2)});
  EXPECT_EQ(spoilt.outcome, Outcome::undecided);
  EXPECT_EQ(spoilt.status, invalid);
  const Verdict v = verdict({row(invalid)});
  EXPECT_EQ(v.outcome, Outcome::undecided);
  EXPECT_EQ(exit_code_of(v), ExitCode::partial);
}

TEST(Verdict, is_open_where_nothing_was_measured) {
  const Verdict v = verdict({});
  EXPECT_EQ(v.outcome, Outcome::undecided);
  EXPECT_TRUE(v.is_interrupted);
  EXPECT_EQ(v.reason, "interrupted before anything was measured");
  EXPECT_FALSE(verdict({row(ok)}).is_interrupted);
}

TEST(Verdict, is_of_the_build_where_nothing_was_run) {
  Judged judged = judged_source();
  judged.fault = row(compile_failed);
  const Verdict built = verdict_of(judged, {});
  EXPECT_EQ(built.gate, "build");
  EXPECT_EQ(exit_code_of(built), ExitCode::refused);
  judged.build.plugin_path = "hm_judged.so";
  judged.fault = row(crashed);
  const Verdict loaded = verdict_of(judged, {});
  EXPECT_EQ(loaded.gate, "load");
  EXPECT_EQ(exit_code_of(loaded), ExitCode::partial);
}

TEST(Verdict, names_the_shape_that_does_not_conform) {
  Judged judged = judged_source();
  judged.conformance = {row(ok), row(quarantined), row(wrong_result)};
  const Verdict v = verdict_of(judged, {});
  EXPECT_EQ(v.gate, "conformance");
  EXPECT_THAT(v.problem, HasSubstr("k=32 m=8 n=16"));
  EXPECT_THAT(verdict_view(v, judged).text, HasSubstr("refused: a.cpp by conformance"));
}

TEST(Verdict, says_why_there_is_no_score) {
  const Verdict v = verdict({row(ok)}, {row(unsupported, 0, 0, "cpu")});
  ASSERT_EQ(v.points.size(), 1u);
  EXPECT_FALSE(v.points[0].score);
  EXPECT_THAT(v.points[0].score_reason, HasSubstr("the baseline has no time: reason"));
  const Verdict unbounded = verdict({row(ok)}, {row(ok, 500, 0, "cpu")});
  EXPECT_THAT(unbounded.points[0].score_reason, HasSubstr("no measured peaks"));
}

TEST(Verdict, is_of_the_row_that_decided_with_all_that_it_says) {
  const Verdict v = verdict({row(ok), row(crashed, 0, 1)}, {row(ok, 500, 0, "cpu")});
  EXPECT_EQ(v.outcome, Outcome::refused);
  EXPECT_EQ(v.status, crashed);
  EXPECT_EQ(v.reason, "reason");
  EXPECT_EQ(v.gate, "containment");
  EXPECT_THAT(v.problem, HasSubstr("k=32 m=8 n=16"));
  ASSERT_EQ(v.points.size(), 1u);
  EXPECT_EQ(v.baseline.size(), 1u);
  EXPECT_EQ(v.points[0].score_reason, "the source was refused");
}

TEST(Verdict, names_the_gate_by_the_status) {
  const std::pair<Status, const char*> gates[] = {
      {wrong_result, "correctness"}, {nan_result, "correctness"}, {compile_failed, "build"},
      {unsupported, "support"},      {refused, "support"},        {invalid, "validity"},
      {timed_out, "containment"},    {cancelled, "containment"}};
  for (const auto& [status, gate] : gates) {
    const Verdict v = verdict({row(status)});
    EXPECT_EQ(v.gate, gate) << status_name(status);
    const bool is_open = status == invalid || status == cancelled;
    EXPECT_EQ(v.outcome, is_open ? Outcome::undecided : Outcome::refused) << status_name(status);
    EXPECT_EQ(v.points.at(0).score_reason == "the source was refused", !is_open);
  }
}

TEST(Verdict, accepts_what_is_suspect_and_says_why) {
  const Verdict v = verdict({row(suspect)});
  EXPECT_EQ(v.outcome, Outcome::accepted);
  EXPECT_EQ(v.status, suspect);
  EXPECT_NE(v.reason, "");
}

TEST(Verdict, prefers_a_wrong_answer_to_a_kernel_that_failed) {
  EXPECT_EQ(verdict({row(timed_out), row(nan_result, 0, 1)}).status, nan_result);
  EXPECT_EQ(verdict({row(quarantined), row(crashed, 0, 1)}).status, crashed);
}

// Each problem has rounds of its own: two false times of four of one, none of another's six.
TEST(Verdict, counts_false_times_by_problem) {
  const auto other = [](Status status, int round) {
    Measurement out = row(status, 1000, round);
    out.kernel_case.problem.params.set("m", 9);
    return out;
  };
  std::vector<Measurement> rows;
  for (int round = 0; round < 6; ++round) rows.push_back(row(ok, 1000, round));
  for (int round = 0; round < 2; ++round) rows.push_back(other(ok, round));
  rows.push_back(other(quarantined, 2));
  EXPECT_EQ(verdict(rows).outcome, Outcome::accepted) << "one of three";
  rows.push_back(other(quarantined, 3));
  const Verdict v = verdict(rows);
  EXPECT_EQ(v.outcome, Outcome::refused) << "two of four";
  EXPECT_EQ(v.status, quarantined);
  EXPECT_THAT(v.problem, HasSubstr("m=9"));
}

TEST(Verdict, is_open_for_a_problem_that_has_no_time_beside_one_that_has) {
  Measurement spoilt = row(invalid);
  spoilt.kernel_case.problem.params.set("m", 9);
  const Verdict v = verdict({row(ok), spoilt});
  EXPECT_EQ(v.outcome, Outcome::undecided);
  EXPECT_THAT(v.problem, HasSubstr("m=9"));
  EXPECT_EQ(verdict({row(ok), row(invalid, 1000, 1)}).outcome, Outcome::accepted);
}

TEST(Verdict, of_a_shape_that_failed_is_of_its_own_gate) {
  Judged judged = judged_source();
  judged.conformance = {row(unsupported), row(timed_out)};
  const Verdict v = verdict_of(judged, {});
  EXPECT_EQ(v.gate, "containment");
  EXPECT_EQ(v.status, timed_out);
  EXPECT_TRUE(v.points.empty());
  EXPECT_FALSE(v.is_interrupted);
}

TEST(Baseline, is_a_backend_and_maybe_a_kernel) {
  EXPECT_EQ(tune::parse_baseline("cpu").backend, "cpu");
  EXPECT_EQ(tune::parse_baseline("cpu:gemm_onednn").kernel, "gemm_onednn");
  for (const char* text : {"", ":x", "cpu:"}) {
    EXPECT_THAT(test::error_of([&] { (void)tune::parse_baseline(text); }).line(),
                HasSubstr("names no baseline"));
  }
}

TEST(Baseline, runs_each_problem_once_and_scores_by_its_own) {
  const std::vector<KernelCase> cases{gemm("a"), gemm("a")};
  const auto baseline = tune::baseline_cases(cases, {"b", "k"});
  ASSERT_EQ(baseline.size(), 1u);
  EXPECT_EQ(baseline[0].kernel, "k");
  EXPECT_EQ(tune::joined({gemm("a")}, baseline).size(), 2u);
  EXPECT_EQ(tune::joined({baseline[0]}, baseline).size(), 1u);
  std::vector<KernelPoint> points(2);
  points[0] = {.key = gemm("a").key(), .problem = "p", .duration_ns = 80};
  points[1] = {.key = baseline[0].key(), .problem = "p", .place = "b:0", .duration_ns = 50};
  for (KernelPoint& p : points) p.lower_bound_ns = 20;
  tune::score_beside(points, baseline);
  EXPECT_DOUBLE_EQ(points[0].score.value(), 1 / (1 + (80.0 - 20) / (50 - 20)));
  EXPECT_DOUBLE_EQ(points[1].score.value(), 0.5);
}

}  // namespace
}  // namespace halmark::judge
