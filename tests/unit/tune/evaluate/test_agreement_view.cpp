// What a machine's agreement with itself says to people, and the limits that it proposes.
#include <gmock/gmock.h>

#include <cmath>

#include "kernels/contract.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"
#include "tune/evaluate/agreement/agreement.hpp"
#include "tune/evaluate/agreement/duets.hpp"

namespace halmark::tune {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

Agreement agreement(int pairs, int agreeing) {
  Agreement out;
  out.cases = {{.problem = "copy bytes=64",
                .median_ns = 2500,
                .pairs = pairs,
                .agreeing = agreeing,
                .left_out = 1,
                .noise_floor = 0.0123,
                .spread = 0.004,
                .rows = 12,
                .ok_rows = 11}};
  out.rounds = 5;
  return out;
}

TEST(AgreementView, has_every_figure_of_a_case) {
  Agreement a = agreement(100, 90);
  a.limits.rounds = 4;
  a.limits.clock_moved = 0.025;
  const report::View view = agreement_view(a);
  EXPECT_THAT(view.data, halmark::test::HasValues(R"({"/cases": [{"problem": "copy bytes=64",
      "duration_ns_median": 2500.0, "pairs": 100, "agreeing": 90, "left_out": 1,
      "noise_floor": 0.0123, "process_spread": 0.004, "rows": 12, "ok_rows": 11}],
      "/processes_per_repeat": 5, "/pairs": 100, "/agreeing": 90, "/agreement": 0.9,
      "/limits": {"rounds": 4, "clock_moved": 0.025}})"));
  EXPECT_THAT(view.text, ContainsRegex("copy bytes=64 +2.50 us +100 +90 +1.2 % +11 of 12"));
  // Wilson, of Newcombe 1998: 0.8256 .. 0.9448.
  EXPECT_THAT(view.text,
              halmark::test::has_all(
                  {"90 of 100 pairs agree within their 90 % interval: 90.0 % (82.6 .. 94.5 %)",
                   "proposed for this machine:\n", "  rounds = 4\n", "  clock_moved = 0.025\n"}));
}

// Wilson intervals of 1000 pairs: of 838 it ends at 0.8595, of 839 at 0.8605; of 954 it begins at
// 0.9392, of 955 at 0.9403.
TEST(AgreementView, says_whether_repeats_agree_as_often_as_they_should) {
  const char* less = "less often than they should";
  const char* more = "more often than they should";
  EXPECT_THAT(agreement_view(agreement(1000, 838)).text, HasSubstr(less));
  EXPECT_THAT(agreement_view(agreement(1000, 839)).text, Not(HasSubstr(less)));
  EXPECT_THAT(agreement_view(agreement(1000, 955)).text, HasSubstr(more));
  EXPECT_THAT(agreement_view(agreement(1000, 954)).text, Not(HasSubstr(more)));
  EXPECT_THAT(agreement_view(agreement(100, 90)).text, Not(HasSubstr("than they should")));
}

TEST(AgreementView, of_no_pair_has_no_figures) {
  const std::string text = agreement_view(agreement(0, 0)).text;
  EXPECT_THAT(text, HasSubstr("no pair of repeats could be compared\n"));
  EXPECT_THAT(text, ContainsRegex("copy bytes=64 +- +0 +- +- +11 of 12"));
}

KernelCase copy_case(std::int64_t bytes = 64, const std::string& backend = "cpu") {
  KernelCase out;
  out.problem = complete_problem({"copy", {{"bytes", bytes}}});
  out.backend = backend;
  return out;
}

Measurement row(int round, double ns) {
  Measurement m;
  m.kernel_case = copy_case();
  m.round = round;
  m.status = Status::ok;
  m.duration_ns_median = ns;
  m.samples = {{.wall_ns = ns, .cpu_ns = ns, .label = SampleLabel::clean}};
  return m;
}

// Every signal that has a limit: 1.1 times what was seen, which lies between the default and twice
// that.
TEST(AgreementOf, proposes_a_limit_for_each_signal) {
  const ValidityThresholds usual;
  std::vector<Measurement> rows;
  for (int r = 0; r < 100; ++r) {
    Measurement m = row(r, 1000);
    m.signals = {{.name = "run_delay_fraction", .value = 1.2 * usual.run_delay_fraction.suspect},
                 {.name = "steal_fraction", .value = 1.2 * usual.steal_fraction.suspect},
                 {.name = "involuntary_switches_per_s",
                  .value = 1.2 * usual.involuntary_switches_per_s.suspect},
                 {.name = "something else", .value = 9.0}};
    m.clock_hz_before = m.peak_flops_before = m.bandwidth.before = 1e9;
    m.clock_hz_after = 1e9 * (1 - 1.2 * usual.clock_moved.suspect);
    m.peak_flops_after = 1e9 * (1 - 1.2 * usual.peak_moved.suspect);
    m.bandwidth.after = 1e9 * (1 - 1.2 * usual.bandwidth_moved.suspect);
    rows.push_back(m);
  }
  const std::vector<KernelCase> cases = {copy_case()};
  const MeasureLimits found = agreement_of(cases, rows, 2).limits;
  const auto expect = [](const std::optional<double>& limit, const Limit& of) {
    ASSERT_TRUE(limit);
    EXPECT_NEAR(*limit, 1.32 * of.suspect, 1e-6 * of.suspect);
  };
  expect(found.run_delay_fraction, usual.run_delay_fraction);
  expect(found.steal_fraction, usual.steal_fraction);
  expect(found.involuntary_switches_per_s, usual.involuntary_switches_per_s);
  expect(found.clock_moved, usual.clock_moved);
  expect(found.peak_moved, usual.peak_moved);
  expect(found.bandwidth_moved, usual.bandwidth_moved);
  EXPECT_FALSE(found.disturbed_samples);
  rows.pop_back();
  rows.pop_back();
  rows.pop_back();
  rows.pop_back();
  EXPECT_FALSE(agreement_of(cases, rows, 2).limits.clock_moved) << "96 rows say too little";
}

// Two of the four rows of a pair are 2.9 % beside the median of all: they did not move; 3.2 % did.
TEST(AgreementOf, rows_within_three_percent_of_their_pair_did_not_move) {
  const auto has_limit = [](double beside) {
    std::vector<Measurement> rows;
    for (int r = 0; r < 100; ++r) {
      Measurement m = row(r, r % 4 < 1 ? 1000 * (1 + beside) : 1000);
      m.clock_hz_before = 1e9;
      m.clock_hz_after = 0.97e9;
      rows.push_back(m);
    }
    const std::vector<KernelCase> cases = {copy_case()};
    return agreement_of(cases, rows, 2).limits.clock_moved.has_value();
  };
  EXPECT_TRUE(has_limit(0.029));
  EXPECT_FALSE(has_limit(0.033));
}

// Pairs whose sides are 1, 2, ... 20 % apart: 95 % of the differences lie below the 19th to 20th,
// and the spread within a side is that of +-1 %.
TEST(AgreementOf, the_noise_floor_is_what_95_percent_of_the_differences_stay_below) {
  std::vector<Measurement> rows;
  for (int pair = 0; pair < 20; ++pair) {
    for (int r = 0; r < 4; ++r) {
      const double side = r % 2 == 0 ? 0 : 0.01 * (pair + 1);
      rows.push_back(row(4 * pair + r, 1000 * std::exp(side + (r < 2 ? -0.01 : 0.01))));
    }
  }
  const std::vector<KernelCase> cases = {copy_case()};
  const Agreement a = agreement_of(cases, rows, 2);
  ASSERT_EQ(a.cases.size(), 1u);
  EXPECT_EQ(a.cases[0].pairs, 20);
  EXPECT_GE(a.cases[0].noise_floor, 0.19 - 1e-9);
  EXPECT_LE(a.cases[0].noise_floor, 0.20 + 1e-9);
  EXPECT_NEAR(a.cases[0].spread, 0.01 * std::sqrt(2.0), 1e-9);
}

TEST(UsualCases, are_small_and_large_bound_by_compute_and_by_memory) {
  const std::vector<KernelCase> cases = usual_cases("cpu", "3");
  std::vector<std::string> problems;
  for (const KernelCase& c : cases) {
    problems.push_back(c.problem.op);
    EXPECT_EQ(c.backend, "cpu");
    EXPECT_EQ(c.device, "3");
  }
  EXPECT_THAT(problems, testing::ElementsAre("gemm", "gemm", "rmsnorm", "copy"));
  EXPECT_EQ(cases[0].problem.params.at("m"), 4);
  EXPECT_EQ(cases[0].problem.params.at("n"), 1024);
  EXPECT_EQ(cases[1].problem.params.at("m"), 128);
  EXPECT_EQ(cases[1].problem.params.at("k"), 512);
  EXPECT_EQ(cases[2].problem.params.at("cols"), 1024);
  EXPECT_EQ(cases[3].problem.params.at("bytes"), 8'388'608);
}

TEST(CasesOfLatestRun, are_those_of_one_backend_with_a_time_each_once) {
  const halmark::test::ScratchFolder folder;
  const std::string path = folder / "r.db";
  const auto store = open_store(path);
  const RunInfo start{.command = "halmark bench",
                      .fingerprint = "here",
                      .tool_version = "1",
                      .tool_build = "b",
                      .started_utc = "2026-01-02T03:04:05Z"};
  const auto append = [&](std::int64_t run, std::int64_t bytes, int round, Status status,
                          const std::string& backend) {
    Measurement m = row(round, 10);
    m.kernel_case = copy_case(bytes, backend);
    m.status = status;
    store->append(run, m);
  };
  halmark::test::expect_error([&] { cases_of_latest_run(*store, "cpu", path); },
                              "the latest run has no kernel of backend 'cpu'");
  append(store->begin_run(start), 999, 0, Status::ok, "cpu");
  const std::int64_t run = store->begin_run(start);
  append(run, 2, 0, Status::ok, "cpu");
  append(run, 1, 0, Status::suspect, "cpu");
  append(run, 2, 1, Status::ok, "cpu");
  append(run, 3, 0, Status::crashed, "cpu");
  append(run, 4, 0, Status::ok, "cuda");
  EXPECT_EQ(cases_of_latest_run(*store, "cpu", path), (std::vector{copy_case(2), copy_case(1)}));
  EXPECT_EQ(cases_of_latest_run(*store, "cuda", path), std::vector{copy_case(4, "cuda")});
}

}  // namespace
}  // namespace halmark::tune
