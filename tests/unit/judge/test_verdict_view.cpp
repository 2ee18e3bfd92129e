// What a person reads of a judged source, line by line, and what each status is worth.
#include "judge/verdict_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json/json.hpp"

namespace halmark::judge {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// T 80 (75 .. 90), T_sol 20, T_base 50 (45 .. 60): S = 1 / (1 + 60 / 30) = 0.333, at worst of 90
// and 45 1 / (1 + 70 / 25) = 0.263, at best of 75 and 60 1 / (1 + 55 / 40) = 0.421.
class VerdictView : public testing::Test {
 protected:
  VerdictView() {
    point_ = {.problem = "gemm m=1",
              .mode = "hot:1",
              .rounds = 3,
              .duration_ns = 80,
              .low_ns = 75,
              .high_ns = 90,
              .lower_bound_ns = 20,
              .roofline_fraction = 0.25};
    point_.limiter = Limiter::memory;
    point_.score = 1.0 / 3;
    point_.baseline = "cpu";
    base_ = {.problem = "gemm m=1",
             .place = "cpu:0",
             .mode = "hot:1",
             .implementation = "brg",
             .duration_ns = 50,
             .low_ns = 45,
             .high_ns = 60};
    judged_.source = "a.cpp";
    judged_.op = "gemm";
    judged_.conformance_problems = 9;
  }
  report::View view() const {
    Verdict v{.outcome = Outcome::accepted, .points = {point_}};
    if (has_base_) v.baseline = {base_};
    return verdict_view(v, judged_);
  }
  KernelPoint point_, base_;
  Judged judged_;
  bool has_base_ = true;
};

TEST_F(VerdictView, of_an_accepted_source_has_its_time_bound_baseline_and_score) {
  EXPECT_EQ(
      view().text,
      "accepted: a.cpp computes gemm; score 0.333 (0.263 .. 0.421), 25.0 % of the bound reached; "
      "every element of 9 shapes, and 1 problem under all gates\n\ngemm m=1\n"
      "  T            80.0 ns  75.0 ns .. 90.0 ns      3 rounds, ok\n"
      "  T_sol        20.0 ns                          bound by memory; 25.0 % of it reached\n"
      "  T_base       50.0 ns  45.0 ns .. 60.0 ns      cpu:0 brg\n"
      "  S              0.333  0.263 .. 0.421\n");
}

TEST_F(VerdictView, says_what_of_it_is_not_known) {
  point_.lower_bound_ns = 0;
  point_.score.reset();
  point_.score_reason = "no peaks";
  EXPECT_THAT(view().text, HasSubstr("  T_sol              -                          no measured "
                                     "peaks of this device"));
  EXPECT_THAT(view().text, EndsWith("  S                  -                          no peaks\n"));
  EXPECT_TRUE(view().data["rows"][0]["bound_ns"].is_null());
  base_.duration_ns.reset();
  base_.low_ns.reset();
  base_.reason = "gone";
  EXPECT_THAT(view().text,
              HasSubstr("  T_base             -                          cpu:0 gone\n"));
  base_.mode = "cold";
  judged_.baseline_reason = "--baseline none";
  EXPECT_THAT(view().text,
              EndsWith("  S                  -                          no baseline: --baseline "
                       "none\n"));
  EXPECT_TRUE(view().data["rows"][0]["baseline_ns"].is_null());
  has_base_ = false;
  EXPECT_TRUE(view().data["rows"][0]["baseline"].is_null());
  point_.duration_ns.reset();
  point_.reason = "timed out";
  EXPECT_THAT(view().text,
              EndsWith("\ngemm m=1\n  T                  -                          timed "
                       "out\n"));
}

TEST_F(VerdictView, without_an_end_has_no_interval_of_the_score) {
  base_.low_ns.reset();
  EXPECT_THAT(view().text, EndsWith("  S              0.333\n"));
}

TEST_F(VerdictView, has_an_interval_where_both_ends_are_known) {
  point_.high_ns.reset();
  EXPECT_THAT(view().text, HasSubstr("  T            80.0 ns                          3 rounds"));
  EXPECT_THAT(view().text, EndsWith("  S              0.333\n"));
  point_.high_ns = 90;
  point_.low_ns.reset();
  EXPECT_THAT(view().text, HasSubstr("  T            80.0 ns                          3 rounds"));
  EXPECT_THAT(view().text, EndsWith("  S              0.333\n"));
  point_.low_ns = 75;
  base_.high_ns.reset();
  EXPECT_THAT(view().text, EndsWith("  S              0.333\n"));
}

// A bound of a nanosecond is one: S = 1 / (1 + 79 / 49).
TEST_F(VerdictView, has_the_bound_of_the_smallest_kernels) {
  point_.lower_bound_ns = 1;
  EXPECT_THAT(view().text, HasSubstr("  T_sol        1.00 ns"));
  EXPECT_EQ(view().data["rows"][0]["bound_ns"], 1);
}

TEST_F(VerdictView, takes_the_baseline_of_the_same_problem_and_mode) {
  KernelPoint other = base_;
  other.problem = "gemm m=2";
  other.duration_ns = 7;
  KernelPoint cold = base_;
  cold.mode = "cold";
  cold.duration_ns = 8;
  const Verdict v{
      .outcome = Outcome::accepted, .points = {point_}, .baseline = {other, cold, base_}};
  EXPECT_EQ(verdict_view(v, judged_).data["rows"][0]["baseline_ns"], 50);
}

TEST_F(VerdictView, as_a_document_has_the_figures_of_a_row) {
  const Json row = view().data["rows"][0];
  const Json wanted = Json::parse(R"({"problem": "gemm m=1", "status": "ok", "duration_ns": 80,
      "duration_low_ns": 75, "duration_high_ns": 90, "bound_ns": 20, "bound_fraction": 0.25,
      "limiter": "memory", "baseline": "cpu", "baseline_ns": 50, "baseline_low_ns": 45,
      "baseline_high_ns": 60})");
  for (const auto& [key, value] : wanted.items()) EXPECT_EQ(row[key], value) << key;
  EXPECT_DOUBLE_EQ(row["score"], 1.0 / 3);
  point_.score.reset();
  EXPECT_TRUE(view().data["rows"][0]["score"].is_null());
}

TEST_F(VerdictView, of_a_refusal_names_gate_status_reason_and_problem) {
  Verdict v{.outcome = Outcome::refused,
            .gate = "correctness",
            .status = Status::wrong_result,
            .reason = "element 3",
            .problem = "k=1 m=2"};
  EXPECT_EQ(verdict_view(v, judged_).text,
            "refused: a.cpp by correctness (wrong_result): element 3 [k=1 m=2]\n");
  judged_.fault.emplace();
  EXPECT_EQ(verdict_view(v, judged_).text,
            "refused: a.cpp by correctness (wrong_result): element 3\n")
      << "no kernel was run";
  EXPECT_EQ(verdict_view({.reason = "interrupted"}, judged_).text,
            "undecided: a.cpp: interrupted\n");
  v.points = {point_, point_};
  v.points[1].score = 0.5;
  v.outcome = Outcome::accepted;
  EXPECT_THAT(
      verdict_view(v, judged_).text,
      testing::StartsWith("accepted: a.cpp computes gemm; scores 0.333 to 0.5; every element of "
                          "9 shapes, and 2 problems under all gates; suspect: element 3\n"));
}

TEST_F(VerdictView, as_a_document_says_how_it_was_built_and_checked) {
  Measurement own, shape;
  own.plugin_hash = "ab";
  own.correctness.method = "all elements";
  shape.plugin_hash = "cd";
  judged_.conformance = {shape};
  judged_.entry = "void run()";
  judged_.build = {.plugin_path = "p.so", .compiler = "g++ -O3", .seconds = 1.5};
  Json data = view().data;
  EXPECT_EQ(data["plugin_hash"], "cd");
  EXPECT_EQ(data["correctness"], "");
  EXPECT_EQ(data["compiler"], "g++ -O3");
  EXPECT_EQ(data["build_s"], 1.5);
  EXPECT_EQ(data["entry"], "void run()");
  EXPECT_EQ(data["conformance_problems"], 9);
  judged_.rows = {own};
  data = view().data;
  EXPECT_EQ(data["plugin_hash"], "ab");
  EXPECT_EQ(data["correctness"], "all elements");
  judged_.rows.clear();
  judged_.conformance.clear();
  EXPECT_EQ(view().data["plugin_hash"], "");
}

TEST(VerdictExit, follows_the_status_and_the_gate) {
  const auto code = [](Status status, const char* gate = "x") {
    return exit_code_of({.outcome = Outcome::refused, .gate = gate, .status = status});
  };
  for (const auto& [status, exit] : {std::pair{Status::wrong_result, ExitCode::incorrect},
                                     {Status::nan_result, ExitCode::incorrect},
                                     {Status::quarantined, ExitCode::gate_failed},
                                     {Status::unsupported, ExitCode::refused},
                                     {Status::refused, ExitCode::refused},
                                     {Status::compile_failed, ExitCode::refused},
                                     {Status::timed_out, ExitCode::partial}}) {
    EXPECT_EQ(code(status), exit) << status_name(status);
  }
  EXPECT_EQ(code(Status::timed_out, "build"), ExitCode::refused);
  EXPECT_EQ(outcome_name(Outcome::accepted), "accepted");
  EXPECT_EQ(outcome_name(Outcome::refused), "refused");
  EXPECT_EQ(outcome_name(Outcome::undecided), "undecided");
}

}  // namespace
}  // namespace halmark::judge
