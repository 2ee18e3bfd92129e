// A run as its journal has it: kernels folded over their rounds, ties, suspects, and what another
// machine may not judge.
#include "tune/stored/stored_report.hpp"

#include <gmock/gmock.h>

#include "kernels/contract.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::tune {
namespace {

using halmark::test::ScratchFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Device machine_peaks() {
  Device out;
  out.id = "cpu:0";
  out.is_measured = true;
  out.peaks.push_back({.path = "f32", .dtype = Dtype::f32, .threads = 2, .flops_per_s = 1e11});
  out.peaks.push_back({.path = "f32", .dtype = Dtype::f32, .threads = 4, .flops_per_s = 1.6e11});
  out.bandwidths.push_back({.level = "memory", .threads = 2, .bytes_per_s = 2e10});
  out.bandwidths.push_back({.level = "memory", .threads = 4, .bytes_per_s = 2e10});
  return out;
}

ReportingMachine machine() {
  Device datasheet;
  datasheet.peaks.push_back({.path = "f32", .dtype = Dtype::f32, .flops_per_s = 4e11});
  return {.fingerprint = "machine-1",
          .cores = 4,
          .measured = machine_peaks(),
          .datasheet = datasheet,
          .lines = {"a CPU"}};
}

KernelCase gemm(std::int64_t m = 64) {
  KernelCase out;
  out.problem = {"gemm",
                 {{"m", m},
                  {"n", 256},
                  {"k", 512},
                  {"src_dtype", std::int64_t(Dtype::f32)},
                  {"wei_dtype", std::int64_t(Dtype::f32)},
                  {"dst_dtype", std::int64_t(Dtype::f32)}}};
  out.problem = complete_problem(out.problem);
  out.backend = "cpu";
  out.parts = 2;
  out.sets = 3;
  return out;
}

Measurement row(const KernelCase& kernel_case, int round, Status status, double ns) {
  Measurement m;
  m.kernel_case = kernel_case;
  m.round = round;
  m.status = status;
  m.reason = status == Status::ok ? "" : "reason " + std::to_string(round);
  m.duration_ns_median = ns;
  m.duration_ns_interval = {ns * 0.9, ns * 1.1};
  m.implementation = {"impl " + std::to_string(round), "avx2", "lib", "1"};
  m.constant_bytes = 100 + round;
  m.workspace_bytes = 200 + round;
  m.wall_s = 0.5;
  return m;
}

constexpr double flops = 2.0 * 64 * 256 * 512;
constexpr double bytes = 4.0 * (64 * 512 + 512 * 256 + 64 * 256);

TEST(KernelPoints, figures_are_those_of_the_median_of_the_rounds) {
  const std::vector<Measurement> rows = {row(gemm(), 0, Status::ok, 400e3),
                                         row(gemm(), 1, Status::ok, 500e3),
                                         row(gemm(), 2, Status::ok, 300e3)};
  const std::vector<KernelPoint> points = kernel_points(rows, machine());
  ASSERT_EQ(points.size(), 1u);
  const KernelPoint& p = points[0];
  EXPECT_EQ(p.key, gemm().key());
  EXPECT_EQ(p.op, "gemm");
  EXPECT_EQ(p.dtype, "f32");
  EXPECT_EQ(p.place, "cpu:0/2.0");
  EXPECT_EQ(p.mode, "rotate_const:3");
  EXPECT_EQ(p.status, Status::ok);
  EXPECT_EQ(p.reason, "");
  EXPECT_EQ(p.rounds, 3);
  EXPECT_EQ(p.duration_ns, 400e3);
  EXPECT_EQ(p.low_ns, 300e3);
  EXPECT_EQ(p.high_ns, 500e3);
  EXPECT_EQ(p.matmul_flops, flops);
  EXPECT_EQ(p.bytes, bytes);
  EXPECT_EQ(p.implementation, "impl 2") << "of the last usable round";
  EXPECT_EQ(p.constant_bytes, 102);
  EXPECT_EQ(p.workspace_bytes, 202);
  // Half of four cores: the peak of two threads.
  EXPECT_NEAR(p.mfu.value(), flops / 400e-6 / 1e11, 1e-12);
  EXPECT_NEAR(p.mfu_datasheet.value(), flops / 400e-6 / 4e11, 1e-12);
  EXPECT_GT(p.lower_bound_ns, 0);
  EXPECT_NEAR(p.roofline_fraction.value(), p.lower_bound_ns / 400e3, 1e-12);
  EXPECT_FALSE(p.algbw_bytes_per_s) << "no collective";
}

TEST(KernelPoints, peaks_are_of_the_cores_of_one_part) {
  KernelCase whole = gemm();
  whole.parts = 1;
  KernelCase many = gemm();
  many.parts = 8;
  const std::vector<Measurement> rows = {row(whole, 0, Status::ok, 400e3),
                                         row(many, 0, Status::ok, 400e3)};
  const std::vector<KernelPoint> points = kernel_points(rows, machine());
  EXPECT_EQ(points[0].place, "cpu:0");
  EXPECT_NEAR(points[0].mfu.value(), flops / 400e-6 / 1.6e11, 1e-12);
  EXPECT_NEAR(points[1].mfu.value(), flops / 400e-6 / 0.5e11, 1e-12) << "one thread at the least";
}

TEST(KernelPoints, without_peaks_utilisation_is_absent_with_a_reason) {
  const std::vector<Measurement> rows = {row(gemm(), 0, Status::ok, 400e3)};
  const KernelPoint p = kernel_points(rows, {}).front();
  EXPECT_EQ(p.duration_ns, 400e3);
  EXPECT_FALSE(p.mfu);
  EXPECT_EQ(p.mfu_reason, "no measured peaks");
  EXPECT_FALSE(p.roofline_fraction);
}

TEST(KernelPoints, the_row_that_speaks_is_the_last_usable_or_the_first_failure) {
  struct Case {
    std::vector<Status> rounds;
    Status status;
    const char* reason;
    const char* implementation;
  };
  const std::vector<Case> cases = {
      {{Status::ok, Status::suspect, Status::crashed}, Status::suspect, "reason 1", "impl 1"},
      {{Status::ok, Status::ok, Status::suspect}, Status::ok, "", "impl 2"},
      {{Status::invalid, Status::crashed, Status::refused}, Status::crashed, "reason 1", "impl 1"},
      {{Status::crashed, Status::wrong_result}, Status::crashed, "reason 0", "impl 0"},
      {{Status::refused, Status::invalid}, Status::invalid, "reason 1", "impl 1"},
  };
  for (const Case& c : cases) {
    std::vector<Measurement> rows;
    for (std::size_t i = 0; i < c.rounds.size(); ++i) {
      rows.push_back(row(gemm(), static_cast<int>(i), c.rounds[i], 400e3));
    }
    const KernelPoint p = kernel_points(rows, machine()).front();
    EXPECT_EQ(p.status, c.status);
    EXPECT_EQ(p.reason, c.reason);
    EXPECT_EQ(p.implementation, c.implementation);
    if (!has_latency(c.status)) {
      EXPECT_FALSE(p.duration_ns);
      EXPECT_EQ(p.mfu_reason, c.reason);
    }
  }
}

TEST(KernelPoints, collectives_have_the_bandwidths_of_nccl_tests) {
  KernelCase reduce;
  reduce.problem = complete_problem(
      {"all_reduce", {{"bytes", 1 << 20}, {"ranks", 4}, {"dtype", std::int64_t(Dtype::f32)}}});
  reduce.backend = "cpu";
  reduce.parts = 4;
  reduce.shards_at_once = 4;
  const std::vector<Measurement> rows = {row(reduce, 0, Status::ok, 100e3)};
  const KernelPoint p = kernel_points(rows, machine()).front();
  EXPECT_EQ(p.place, "cpu:0/4.0 x4");
  EXPECT_NEAR(p.algbw_bytes_per_s.value(), (1 << 20) / 100e-6, 1);
  EXPECT_NEAR(p.busbw_bytes_per_s.value(), (1 << 20) / 100e-6 * 2 * 3 / 4, 1);
}

TEST(KernelPoints, cases_keep_the_order_of_their_first_rows) {
  const std::vector<Measurement> rows = {row(gemm(9), 0, Status::ok, 1e5),
                                         row(gemm(3), 0, Status::ok, 2e5),
                                         row(gemm(9), 1, Status::ok, 3e5)};
  const std::vector<KernelPoint> points = kernel_points(rows, machine());
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].duration_ns, 2e5);
  EXPECT_EQ(points[0].rounds, 2);
  EXPECT_EQ(points[1].duration_ns, 2e5);
  EXPECT_EQ(points[1].rounds, 1);
}

class StoredReport : public testing::Test {
 protected:
  StoredReport() : store_(open_store(folder_ / "a.db")) {
    run_ = store_->begin_run(
        {.command = "halmark tune s.toml",
         .plan_hash = "00aa",
         .plan_text =
             R"({"plan":2,"sweep":"s","model":"m","objectives":["latency","memory"],"left_out":["x"]})",
         .fingerprint = "machine-1",
         .tool_version = "0.1",
         .tool_build = "abc",
         .started_utc = "2026-11-21T10:20:30Z"});
  }
  Evaluation add(int tp, double low, double ns, double high, std::int64_t memory,
                 Status status = Status::ok, std::int64_t batch = 1) {
    Evaluation e;
    e.configuration.model = "m";
    e.configuration.parallel.tp = tp;
    e.configuration.precision.name = "f32";
    e.configuration.workload.batch = batch;
    e.estimate =
        Estimate{.step_ns = ns, .low_ns = low, .high_ns = high, .memory_bytes_total = memory};
    e.estimate->status = status;
    store_->append(run_, e);
    return e;
  }
  RunReport report(const ReportingMachine& m = machine()) const {
    return stored_report(*store_, run_, m);
  }

  ScratchFolder folder_;
  std::unique_ptr<Store> store_;
  std::int64_t run_ = 0;
};

TEST_F(StoredReport, names_its_run_and_its_machine) {
  store_->append(run_, row(gemm(), 0, Status::ok, 400e3));
  store_->append(run_, row(gemm(), 1, Status::invalid, 400e3));
  add(1, 90, 100, 110, 5);
  const RunReport here = report();
  EXPECT_EQ(here.title, "s");
  EXPECT_EQ(here.model, "m");
  EXPECT_EQ(here.command, "halmark tune s.toml");
  EXPECT_EQ(here.tool, "halmark 0.1 (abc)");
  EXPECT_EQ(here.plan_hash, "00aa");
  EXPECT_EQ(here.chain_head, store_->chain_head(run_));
  EXPECT_THAT(here.left_out, ElementsAre("x"));
  EXPECT_THAT(here.objectives, ElementsAre("latency", "memory"));
  EXPECT_THAT(here.machine,
              ElementsAre("a CPU", "(as this machine is now: the run did not keep it)"));
  EXPECT_DOUBLE_EQ(here.measuring_s, 1);
  EXPECT_TRUE(here.device);
  EXPECT_TRUE(here.kernels.at(0).mfu);
  ASSERT_EQ(here.warnings.size(), 1u);
  EXPECT_THAT(here.warnings[0], HasSubstr("W-ENV-03: 1 of 2 rows were disturbed"));
  ReportingMachine other = machine();
  other.fingerprint = "machine-2";
  const RunReport elsewhere = report(other);
  EXPECT_THAT(elsewhere.machine, IsEmpty());
  EXPECT_FALSE(elsewhere.device) << "its peaks judge no rows of another machine";
  EXPECT_FALSE(elsewhere.kernels.at(0).mfu);
  EXPECT_FALSE(elsewhere.kernels.at(0).mfu_datasheet);
}

TEST_F(StoredReport, nothing_disturbed_is_no_warning) {
  store_->append(run_, row(gemm(), 0, Status::ok, 400e3));
  EXPECT_THAT(report().warnings, IsEmpty());
}

TEST_F(StoredReport, ties_are_points_of_the_same_work_whose_intervals_overlap) {
  const Evaluation a = add(1, 90, 100, 120, 9);
  const Evaluation b = add(2, 120, 130, 140, 8);                     // touches a
  const Evaluation c = add(4, 141, 150, 160, 7);                     // apart from both
  const Evaluation d = add(8, 90, 105, 115, 6, Status::suspect, 2);  // other work; beats b and c
  const RunReport out = report();
  std::map<std::string, std::vector<std::string>> ties;
  std::map<std::string, bool> suspect;
  for (const FrontPoint& point : out.front) {
    const std::string key = out.evaluations[point.evaluation].configuration.key();
    ties[key] = point.ties;
    suspect[key] = point.is_suspect;
  }
  const std::string of_a = a.configuration.key(), of_d = d.configuration.key();
  ASSERT_EQ(ties.size(), 2u) << "d dominates b and c: one front of a phase, whatever the work";
  EXPECT_THAT(ties[of_a], IsEmpty());
  EXPECT_FALSE(suspect[of_a]);
  EXPECT_TRUE(suspect[of_d]);
}

TEST_F(StoredReport, touching_intervals_are_ties_both_ways) {
  const Evaluation a = add(1, 90, 100, 120, 9);
  const Evaluation b = add(2, 120, 130, 140, 8);
  const Evaluation c = add(4, 141, 150, 160, 7);
  const RunReport out = report();
  ASSERT_EQ(out.front.size(), 3u);
  EXPECT_THAT(out.front[0].ties, ElementsAre(b.configuration.key()));
  EXPECT_THAT(out.front[1].ties, ElementsAre(a.configuration.key()));
  EXPECT_THAT(out.front[2].ties, IsEmpty());
}

TEST_F(StoredReport, the_last_evaluation_of_a_configuration_counts) {
  add(1, 90, 100, 110, 9);
  add(2, 190, 200, 210, 8);
  add(1, 290, 300, 310, 9);
  const RunReport out = report();
  ASSERT_EQ(out.evaluations.size(), 2u);
  EXPECT_EQ(out.evaluations[0].estimate->step_ns, 300);
  EXPECT_EQ(out.evaluations[1].estimate->step_ns, 200);
}

TEST_F(StoredReport, runs_of_whole_stacks_stand_beside_their_estimates) {
  const Evaluation a = add(1, 90, 100, 110, 9);
  const Evaluation b = add(2, 190, 200, 210, 8);
  store_->append(run_, Validation{.deployment_key = a.configuration.key(),
                                  .predicted_ns = 100,
                                  .predicted_interval_ns = {90, 110},
                                  .measured_ns = 105,
                                  .measured_interval_ns = {100, 112},
                                  .reason = "none",
                                  .operators = {{"q_proj", 10, 11}}});
  store_->append(run_, Validation{.deployment_key = b.configuration.key(),
                                  .measured_ns = 205,
                                  .status = Status::crashed,
                                  .reason = "signal"});
  const RunReport out = report();
  EXPECT_EQ(out.evaluations[0].measured_ns, 105);
  EXPECT_EQ(out.evaluations[0].measured_interval_ns->high, 112);
  EXPECT_FALSE(out.evaluations[1].measured_ns) << "it failed";
  ASSERT_EQ(out.validations.size(), 2u);
  EXPECT_EQ(out.validations[0].predicted_ns, 100);
  EXPECT_EQ(out.validations[0].predicted_interval_ns.low, 90);
  EXPECT_EQ(out.validations[0].measured_interval_ns.low, 100);
  ASSERT_EQ(out.validations[0].operators.size(), 1u);
  EXPECT_EQ(out.validations[0].operators[0].measured_ns, 11);
  EXPECT_EQ(out.validations[1].status, Status::crashed);
  EXPECT_EQ(out.validations[1].reason, "signal");
}

}  // namespace
}  // namespace halmark::tune
