// What a report says of itself, at both sides of every limit, and how configurations are called.
#include "report/sentences.hpp"

#include <gmock/gmock.h>

#include "report/front_view.hpp"
#include "report/views/validation_view.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Sentences, five_percent_in_the_median_and_fifteen_at_worst_are_within) {
  const auto verdict = [](std::optional<double> median, std::optional<double> worst) {
    return composition_verdict({.median = median, .worst = worst});
  };
  EXPECT_EQ(verdict(0.05, 0.15), "within");
  EXPECT_EQ(verdict(0.051, 0.15), "exceeded");
  EXPECT_EQ(verdict(0.05, 0.151), "exceeded");
  EXPECT_EQ(verdict(0.05, std::nullopt), "UNDECIDED");
  EXPECT_EQ(verdict(std::nullopt, 0.15), "UNDECIDED");
}

// Runs of 100 ns of which these were said before, and by the sum of the kernels.
RunReport with_runs(const std::vector<double>& said) {
  RunReport out;
  for (const double ns : said) {
    Validation v{.deployment_key = "k", .predicted_ns = ns, .measured_ns = 100};
    v.composition = Composition{.composed_ns = ns, .error = ns / 100 - 1, .pairs = 5};
    out.validations.push_back(v);
  }
  return out;
}

TEST(Sentences, errors_of_few_points_are_the_worst_and_of_three_the_median_too) {
  EXPECT_EQ(prediction_text(with_runs({})), "");
  EXPECT_EQ(composition_text(with_runs({})), "");
  EXPECT_EQ(
      prediction_text(with_runs({90})),
      "prediction error: worst 10.0 % over 1 point: what was printed before, against the run");
  EXPECT_EQ(prediction_text(with_runs({104, 90})),
            "prediction error: worst 10.0 % over 2 points: what was printed before, against the "
            "run");
  EXPECT_EQ(prediction_text(with_runs({104, 90, 102})),
            "prediction error: median 4.00 %, worst 10.0 % over 3 points: what was printed before, "
            "against the run");
  EXPECT_EQ(composition_text(with_runs({104, 90, 102})),
            "composition error: median 4.00 %, worst 10.0 % over 3 points (within 5 % and 15 %)");
  EXPECT_EQ(composition_text(with_runs({104})),
            "composition error: UNDECIDED (1 point with pairs of run and kernels, 3 needed)");
  RunReport lost = with_runs({104, 90, 102});
  lost.validations[1].status = Status::timed_out;
  EXPECT_THAT(prediction_text(lost), HasSubstr("over 2 points; left out: 1: what was"));
  EXPECT_THAT(composition_text(lost), HasSubstr("3 needed; left out: 1)"));
}

TEST(Sentences, a_front_is_valid_suspect_or_none) {
  RunReport report;
  EXPECT_EQ(validity(report), "none");
  EXPECT_EQ(validity_text(report), "no front: no configuration has a usable latency");
  report.evaluations.resize(2);
  report.front = {{.evaluation = 0}, {.evaluation = 1}};
  EXPECT_EQ(validity(report), "valid");
  EXPECT_EQ(validity_text(report), "valid: every front point passed the validity gate");
  report.evaluations[1].status = Status::suspect;
  EXPECT_EQ(validity(report), "suspect");
  report.evaluations[1].status = Status::ok;
  report.front[0].is_suspect = true;
  EXPECT_EQ(validity(report), "suspect");
  EXPECT_EQ(validity_text(report), "suspect: some rows did not pass the validity gate");
  report.evaluations[0].estimate = Estimate{.provenance = Provenance::roofline};
  EXPECT_EQ(validity(report), "none") << "nothing was measured that a gate could judge";
  EXPECT_EQ(validity_text(report), "");
}

TEST(Sentences, what_ran_between_its_neighbours_is_a_span_over_the_front) {
  RunReport report;
  report.evaluations.resize(3);
  for (const std::size_t i : {0, 1}) report.evaluations[i].estimate = Estimate{};
  report.front = {{.evaluation = 0}, {.evaluation = 1}, {.evaluation = 2}};
  EXPECT_EQ(in_stack_text(report), "") << "all in loops of their own";
  report.evaluations[0].estimate->in_stack_share = 0.72;
  report.evaluations[1].estimate->in_stack_share = 0.78;
  EXPECT_EQ(in_stack_text(report),
            "kernels measured in-stack: 72.0 % .. 78.0 % of the time "
            "of the front's steps; the rest in loops of their own");
}

// 16 tokens in 2 ms with 0.4 J: 0.025 J each.
TEST(Sentences, energy_is_of_a_step_and_of_a_token) {
  Evaluation e;
  EXPECT_EQ(energy_text(e), "");
  e.estimate = Estimate{.step_ns = 2e6, .tokens_per_s = 8000};
  EXPECT_EQ(energy_text(e), "");
  e.estimate->energy = StepEnergy{0.4, true, "measured: rapl"};
  EXPECT_EQ(energy_text(e), "0.4 J a step, 0.0250 J/token, measured: rapl");
  EXPECT_EQ(kernel_energy_text(e),
            "energy of its kernels: 0.4 J a step, 0.0250 J/token, measured: "
            "rapl\n");
  e.estimate->tokens_per_s = 0;
  EXPECT_EQ(energy_text(e), "0.4 J a step, measured: rapl");
  e.estimate->energy.reset();
  EXPECT_EQ(kernel_energy_text(e), "");
  e.estimate->energy_reason = "no meter";
  EXPECT_EQ(kernel_energy_text(e), "energy of its kernels: none: no meter\n");
}

Evaluation evaluated(std::int64_t batch, std::int64_t new_tokens, std::int64_t context) {
  Evaluation out;
  out.configuration = {.model = "m", .precision = {.name = "bf16"}};
  out.configuration.workload = {Phase::decode, batch, new_tokens, context};
  return out;
}

std::string label(const RunReport& report, std::size_t i = 0) {
  return deployment_label(report.evaluations[i].configuration, report);
}

// What is the same everywhere is left out, but for batch, type and layout.
TEST(DeploymentLabel, names_what_tells_configurations_of_a_phase_apart) {
  RunReport report;
  report.evaluations = {evaluated(1, 1, 64), evaluated(2, 1, 64)};
  EXPECT_EQ(label(report), "b1 bf16 1 shard");
  report.evaluations[1] = evaluated(2, 1, 128);
  EXPECT_EQ(label(report), "b1 c64 bf16 1 shard");
  report.evaluations[1] = evaluated(2, 5, 64);
  EXPECT_EQ(label(report, 1), "b2 n5 bf16 1 shard");
  report.evaluations[1].configuration.workload.phase = Phase::prefill;
  EXPECT_EQ(label(report), "b1 bf16 1 shard") << "another phase is no comparison";
  report.evaluations[1] = evaluated(2, 1, 64);
  report.evaluations[1].configuration.workload.routing_skew = 50;
  EXPECT_EQ(label(report, 1), "b2 s50 bf16 1 shard");
  report.evaluations[1].configuration.model = "other";
  EXPECT_THAT(label(report), testing::StartsWith("m b1 "));
}

TEST(DeploymentLabel, names_every_part_of_a_layout) {
  RunReport report;
  report.evaluations = {evaluated(1, 1, 64)};
  Configuration& c = report.evaluations[0].configuration;
  c.parallel = {.dp = 2, .tp = 3, .pp = 4, .ep = 5, .cp = 6};
  EXPECT_EQ(label(report), "b1 bf16 dp2 tp3 pp4 ep5 cp6");
  c.parallel = {.pp = 2};
  c.parallel.stages = {10, 18};
  EXPECT_EQ(label(report), "b1 bf16 pp2 stages10+18");
  c.parallel = {.tp = 2};
  c.places = {{.backend = "cpu"}, {.backend = "opencl", .device = "3"}};
  EXPECT_THAT(label(report), testing::MatchesRegex("b1 bf16 tp2 on cpu.*[+]opencl:3.*"));
}

TEST(FrontRows, a_run_is_what_was_measured_or_its_validation_or_a_reason) {
  Evaluation e = evaluated(1, 1, 64);
  const Estimate estimate{.step_ns = 90};
  Validation v{.deployment_key = "k", .measured_ns = 100};
  FrontRow row{.evaluation = &e, .estimate = &estimate};
  EXPECT_EQ(row.measured_ns(), std::nullopt);
  EXPECT_EQ(row.measured_reason(), "never confronted with a run");
  EXPECT_EQ(row.composition_reason(), "never confronted with a run");
  row.validation = &v;
  EXPECT_EQ(row.measured_ns(), 100);
  EXPECT_EQ(row.measured_reason(), "");
  EXPECT_NEAR(row.prediction_error().value(), -0.1, 1e-12) << "90 against 100";
  v.composition_reason = "no pairs";
  EXPECT_EQ(row.composition_reason(), "no pairs");
  e.measured_ns = 120;
  EXPECT_EQ(row.measured_ns(), 120);
  e.measured_ns = 0;
  EXPECT_EQ(row.measured_ns(), 100) << "none at all";
  v.status = Status::timed_out;
  EXPECT_EQ(row.measured_reason(), "timed_out");
  v.reason = "after 40 s";
  EXPECT_EQ(row.measured_reason(), "after 40 s");
  EXPECT_EQ(row.composition_reason(), "after 40 s");
}

Validation checked_run() {
  Validation v{.deployment_key = "k", .predicted_ns = 100e3, .measured_ns = 80e3};
  v.predicted_interval_ns = {90e3, 110e3};
  v.measured_interval_ns = {79e3, 82e3};
  v.operators = {{"gemm", 50e3, 40e3}, {"norm", std::nullopt, 20e3}, {"none", 1e3, 0}};
  v.composition = Composition{.composed_ns = 76e3,
                              .error = -0.05,
                              .error_interval = {-0.07, -0.02},
                              .pairs = 5,
                              .paired_share = 0.9};
  return v;
}

TEST(ValidationView, shows_operators_the_step_and_both_errors_line_by_line) {
  const std::string text = validation_view(checked_run()).text;
  EXPECT_THAT(text, testing::StartsWith("k\n\noperator"));
  EXPECT_THAT(text,
              test::has_lines({"gemm +50.0 us +40.0 us +\\+25.0 % +50.0 %\n",
                               "norm +- +20.0 us +- +25.0 %\n", "none +1.00 us +0.00 ns|0 ns"}));
  EXPECT_THAT(text,
              test::has_all({"\nstep 80.0 us (79.0 us .. 82.0 us)  [ok]\n",
                             "composition error -5.0 % (-7.0 % .. -2.0 %): its kernels took 76.0 "
                             "us, in 5 pairs with the run within seconds (90.0 % of the step; the "
                             "rest from their rows)\n",
                             "prediction error +25.0 %: 100 us (90.0 us .. 110 us) was said "
                             "before"}));
  EXPECT_THAT(text, test::has_none({"pairs left out", "state moved"}));
  Validation v = checked_run();
  v.composition->in_one_state = false;
  v.composition->apart = 1;
  EXPECT_THAT(validation_view(v).text, HasSubstr("within most pairs: all are counted\n1 pairs left "
                                                 "out: the machine's state moved"));
  v.composition.reset();
  v.composition_reason = "too short";
  v.predicted_ns.reset();
  EXPECT_THAT(validation_view(v).text, HasSubstr("composition error: none: too short\n"));
  EXPECT_THAT(validation_view(v).text, Not(HasSubstr("prediction error")));
}

// Said at 40 GB/s, run at 20: all of it waits for the memory, so that it takes twice as long.
TEST(ValidationView, tells_whether_the_run_lies_in_what_was_said_and_in_which_state) {
  Validation v = checked_run();
  v.predicted_state =
      StateInterval{.state = {40e9, 2e11}, .step_ns = 80e3, .memory_ns = 80e3, .ns = {70e3, 90e3}};
  v.composition->bytes_per_s = 41e9;
  v.composition->flops_per_s = 1.8e11;
  EXPECT_THAT(validation_view(v).text,
              HasSubstr("the run lies inside that interval: memory at 40.0 GB/s then, 41.0 GB/s "
                        "during the run; cores at 90.0 % of their speed then\n"));
  v.composition->bytes_per_s = 20e9;
  v.composition->flops_per_s.reset();
  const std::string scaled = validation_view(v).text;
  EXPECT_THAT(scaled, test::has_all({"the run lies outside that interval, scaled to ",
                                     "memory at 40.0 GB/s then, 20.0 GB/s during the run\n"}));
}

}  // namespace
}  // namespace halmark::report
