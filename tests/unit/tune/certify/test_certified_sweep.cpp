// Certified sweeps over recorded kernels: what is measured, what the certificate says, and what its
// proof states as evidence.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "core/numeric/cast.hpp"
#include "latency/case_bounds.hpp"
#include "measure/campaign/predict_cost.hpp"
#include "tests/stopped.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/tune/recorded_sweep.hpp"
#include "tune/certify/conclusion.hpp"

namespace halmark::tune {
namespace {

using halmark::test::has_all;
using halmark::test::HasValues;
using halmark::test::ScratchFolder;
using test::Certified;
using test::decode_sweep;
using test::front_batches;
using test::proof_records;
using test::RecordedKernel;
using test::RecordedSweep;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* certified = "sampler = \"certify\"\n";

// Slow enough that bounds are of the order of microseconds.
Device slow_machine() {
  Device out;
  out.id = "cpu:0";
  out.is_measured = true;
  out.peaks.push_back({.path = "f32", .dtype = Dtype::f32, .threads = 2, .flops_per_s = 1e9});
  out.bandwidths.push_back({.level = "memory", .threads = 2, .bytes_per_s = 1e9});
  return out;
}

TEST(CertifiedSweep, without_peaks_everything_is_measured_and_nothing_discarded) {
  RecordedSweep recorded(decode_sweep("[1, 2, 4]", "[\"latency\", \"throughput\"]", certified));
  recorded.record_times([](std::int64_t batch, int) { return batch == 2 ? 900.0 : 1000.0; });
  MeasuredSweep sweep(recorded.plan(), recorded.context(), CertifySettings{.tells_stored = false});
  const TuneRun run = sweep.measure();
  EXPECT_EQ(run.evaluations.size(), 3u);
  EXPECT_THAT(front_batches(sweep), ElementsAre(2, 4));
  const CertificateReport report = conclude(*sweep.certifier(), run.id, 3, {});
  EXPECT_THAT(report.data, HasValues(R"({"/state": "certified", "/configurations": 3,
      "/front": 2, "/certain": 2, "/open": 0, "/gap": 0, "/alarms": 0,
      "/composition_confirmed": false})"));
  EXPECT_EQ(report.data.at("kernels"), recorded.kernels().size());
  EXPECT_EQ(report.data.at("kernels_measured"), recorded.kernels().size());
  EXPECT_DOUBLE_EQ(report.data.at("predicted_share"), 1);
  EXPECT_FALSE(report.data.contains("open_kernel"));
  EXPECT_FALSE(report.data.contains("proof"));
  EXPECT_THAT(report.text,
              has_all({"certificate: certified\n",
                       "of 3 configurations 2 on the certified front (2 certain), 1 dominated",
                       "100 % of the time of all", "no peaks are known for this back end",
                       "bounds: peaks x 1.05; 0 alarms",
                       "intervals of 3 processes each: no joint confidence"}));
  // Three processes each: min..max misses with 1/4, and there are more than four kernels.
  EXPECT_EQ(report.data.at("alpha"), 1);
}

// Every kernel takes 1.3 times its bound on the slow machine.
void record_above_bounds(RecordedSweep& recorded) {
  const Device machine = slow_machine();
  const CaseBounds bounds({.device = &machine, .threads = 2});
  recorded.record([&](const RecordedKernel& k, Measurement& m) {
    m.duration_ns_median = 1.3 * std::max(1.0, bounds.of(k.kernel_case).bound.ns());
    m.duration_ns_interval = {m.duration_ns_median, m.duration_ns_median};
    m.wall_s = 0.25;
  });
}

// Rows of an earlier session that asked for more than this one does.
TEST(CertifiedSweep, calls_nothing_unmeasured_that_its_run_has_a_time_of) {
  RecordedSweep recorded(decode_sweep("[1, 64]", "[\"latency\"]", certified), slow_machine());
  record_above_bounds(recorded);
  Certified certified_sweep(recorded, CertifySettings{});
  auto& [sweep, run, report] = certified_sweep;
  EXPECT_EQ(report.data.at("kernels_measured"), recorded.kernels().size());
  EXPECT_THAT(report.data, HasValues(R"({"/state": "certified", "/front": 1})"));
  EXPECT_EQ(run.evaluations.size(), 2u) << "both have figures";
}

TEST(CertifiedSweep, bounds_spare_the_kernels_of_what_cannot_win) {
  RecordedSweep recorded(decode_sweep("[1, 64]", "[\"latency\"]", certified), slow_machine());
  record_above_bounds(recorded);
  const Device machine = slow_machine();
  const CaseBounds bounds({.device = &machine, .threads = 2});
  const ScratchFolder folder;
  MeasuredSweep sweep(
      recorded.plan(), recorded.context(),
      CertifySettings{.tells_stored = false, .safety = 1.1, .proof = folder / "p.hmproof"});
  const TuneRun run = sweep.measure();
  ASSERT_EQ(run.evaluations.size(), 1u) << "what was not measured is no row";
  EXPECT_EQ(run.evaluations[0].configuration.workload.batch, 1);
  EXPECT_EQ(run.front, std::vector<std::size_t>{0});
  const StepsToCertify& steps = sweep.certifier()->steps();
  const std::vector<KernelCase>& all = steps.cases;
  ASSERT_EQ(all.size(), recorded.kernels().size());
  const auto cost = predict_cost(all, 3, sample_rule(recorded.plan().sweep().measure), &machine, 2);
  double measured_cost = 0, all_cost = 0;
  std::size_t measured = 0, of_batch_64 = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all_cost += cost.case_seconds[i];
    const KernelStatus status = sweep.certifier()->certifier().kernels()[i].status;
    const auto k = std::ranges::find(recorded.kernels(), all[i], &RecordedKernel::kernel_case);
    EXPECT_TRUE(k->batch == 64 || status == KernelStatus::measured);
    if (status != KernelStatus::measured) continue;
    measured_cost += cost.case_seconds[i];
    of_batch_64 += k->batch == 64;
    ++measured;
  }
  EXPECT_LE(of_batch_64, 5u) << "what filled the only batch of sixteen";
  const CertificateReport report = conclude(*sweep.certifier(), run.id, 3, {});
  EXPECT_EQ(report.data.at("kernels_measured"), measured);
  EXPECT_THAT(report.data, HasValues(R"({"/dominated": 1, "/state": "certified"})"));
  EXPECT_NEAR(report.data.at("predicted_share"), measured_cost / all_cost, 1e-12);
  EXPECT_DOUBLE_EQ(report.data.at("measured_s"), 0.25 * 3 * as_double(measured));
  EXPECT_THAT(report.text, Not(HasSubstr("no peaks are known")));
  EXPECT_EQ(report.data.at("proof"), folder / "p.hmproof");
  // Each peak and kernel of the proof as the host counts it.
  const auto header = proof_records(folder / "p.hmproof", "header").at(0);
  EXPECT_EQ(header.at("run"), run.id);
  EXPECT_EQ(header.at("run_objective"), 0);
  EXPECT_EQ(header.at("plan"), recorded.plan().hash());
  for (const Json& peak : header.at("peaks")) {
    EXPECT_THAT(peak, HasValues(R"({"/value": 1e9, "/safety": 1.1})"));
    EXPECT_EQ(peak.at("unit"), peak.at("counts") == "operations" ? "FLOP/s" : "bytes/s");
  }
  EXPECT_EQ(header.at("peaks").size(), 2u);
  const std::vector<Json> kernels = proof_records(folder / "p.hmproof", "kernel");
  ASSERT_EQ(kernels.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const CaseBound of_case = bounds.of(all[i]);
    const auto same =
        std::ranges::find(kernels, Json(all[i].key()), [](const Json& k) { return k.at("key"); });
    ASSERT_NE(same, kernels.end());
    EXPECT_EQ(same->at("operations"), of_case.work.matmul_flops);
    EXPECT_EQ(same->at("bytes"), of_case.work.bytes());
    EXPECT_NEAR(same->at("bound"), of_case.bound.ns() / 1.1, 1e-9 * of_case.bound.ns());
  }
}

TEST(CertifiedSweep, a_kernel_that_failed_takes_its_configuration_out) {
  RecordedSweep recorded(decode_sweep("[1, 2]", "[\"latency\"]", certified), slow_machine());
  const Device machine = slow_machine();
  const CaseBounds bounds({.device = &machine, .threads = 2});
  const KernelCase broken = std::ranges::find_if(recorded.kernels(), [&](const RecordedKernel& k) {
                              return k.batch == 1 && bounds.of(k.kernel_case).bound.ns() > 0;
                            })->kernel_case;
  for (const double of_bound : {0.0, 0.5, 1.5}) {
    RecordedSweep sweep_of(decode_sweep("[1, 2]", "[\"latency\"]", certified), slow_machine());
    sweep_of.record([&](const RecordedKernel& k, Measurement& m) {
      const double bound_ns = bounds.of(k.kernel_case).bound.ns();
      m.duration_ns_median = 1.3 * std::max(1.0, bound_ns);
      m.duration_ns_interval = {m.duration_ns_median, m.duration_ns_median};
      if (k.kernel_case != broken) return;
      m.status = of_bound > 0 ? Status::quarantined : Status::wrong_result;
      m.reason = "broken";
      // The fastest of the rounds counts.
      m.duration_ns_median = of_bound * bound_ns * (m.round == 1 ? 1 : 2);
    });
    Certified certified_sweep(sweep_of);
    auto& [sweep, run, report] = certified_sweep;
    EXPECT_EQ(report.data.at("failed"), 1) << of_bound;
    EXPECT_EQ(report.data.at("front"), 1);
    EXPECT_EQ(report.data.at("alarms"), of_bound == 0.5 ? 1 : 0) << of_bound;
    EXPECT_THAT(front_batches(sweep), ElementsAre(2));
    EXPECT_EQ(run.evaluations.size(), 2u) << "a failure is a row";
  }
}

// Kernels are measured in batches of sixteen, and another batch is begun while there is budget.
TEST(CertifiedSweep, ends_with_the_budget_and_states_what_is_open) {
  const std::string batches = "[1, 2, 3, 4]";
  for (const double first_batch_s : {0.9, 1.1}) {
    RecordedSweep recorded(
        decode_sweep(batches, "[\"latency\"]", std::string(certified) + "budget_s = 10\n"));
    ASSERT_GT(recorded.kernels().size(), 32u);
    recorded.record([&](const RecordedKernel&, Measurement& m) {
      m.duration_ns_median = 1000;
      m.duration_ns_interval = {1000, 1000};
      m.wall_s = 10 * first_batch_s / 16 / 3;
    });
    Certified certified_sweep(recorded);
    auto& [sweep, run, report] = certified_sweep;
    const auto measured = report.data.at("kernels_measured").get<std::size_t>();
    EXPECT_EQ(measured == 16, first_batch_s > 1) << measured;
    EXPECT_LT(measured, recorded.kernels().size());
    EXPECT_THAT(report.data, HasValues(R"({"/state": "open", "/budget_spent": true})"));
    EXPECT_GT(report.data.at("open"), 0);
    const Json& gap = report.data.at("gap");
    const std::string text =
        gap.is_null() ? "without limit" : fmt::format("{:.1f} %", gap.get<double>() * 100);
    EXPECT_THAT(report.text,
                has_all({"certificate: open, gap " + text + '\n', "  stopped: budget_s = "}));
    EXPECT_FALSE(report.data.at("open_configuration").get<std::string>().empty());
    EXPECT_FALSE(report.data.at("open_kernel").get<std::string>().empty());
    for (const Evaluation& e : run.evaluations) EXPECT_TRUE(e.estimate) << "all rows are decided";
    EXPECT_LT(run.evaluations.size(), 4u);
  }
}

TEST(CertifiedSweep, an_interruption_measures_nothing_more) {
  RecordedSweep recorded(decode_sweep("[1]", "[\"latency\"]", certified));
  recorded.record_times([](std::int64_t, int) { return 1000.0; });
  recorded.context().stop = halmark::test::stopped();
  MeasuredSweep sweep(recorded.plan(), recorded.context(), CertifySettings{.tells_stored = false});
  EXPECT_THAT(sweep.measure().evaluations, IsEmpty());
  EXPECT_EQ(sweep.certifier()->certifier().kernels_measured(), 0u);
}

TEST(CertifiedSweep, a_model_that_says_something_else_than_its_proof_is_an_error) {
  RecordedSweep recorded(decode_sweep("[1]", "[\"latency\", \"throughput\"]", certified));
  recorded.record_times([](std::int64_t, int) { return 1000.0; });
  MeasuredSweep sweep(recorded.plan(), recorded.context(), CertifySettings{.tells_stored = false});
  const TuneRun run = sweep.measure();
  const MeasuredSource& source = sweep.evaluator().source();
  const std::uint64_t combination = sweep.certifier()->steps().configurations.begin()->first;
  const auto check = [&](double latency, double throughput) {
    Evaluation e = run.evaluations.at(0);
    e.estimate->step_ns *= latency;
    e.estimate->tokens_per_s *= throughput;
    sweep.certifier()->check(combination, e, source);
  };
  EXPECT_NO_THROW(check(1 + 0.85e-9, 1));
  EXPECT_NO_THROW(check(1, 1 - 0.85e-9));
  for (const auto& [a, b] : {std::pair(1 + 1.2e-9, 1.0), std::pair(1.0, 1 - 1.2e-9)}) {
    const double latency = a, throughput = b;
    halmark::test::expect_error([&] { check(latency, throughput); },
                                "is not what its proof would state", ExitCode::error);
  }
}

// Decode and prefill stand side by side: each combination is of one phase, and lengths that only
// the other phase has are left out as such.
TEST(CertifiedSweep, phases_are_fronts_of_one_product) {
  RecordedSweep recorded(
      "name = \"s\"\nmodel = \"tiny\"\ndtypes = [\"f32\"]\nstrategies = [\"data\"]\n"
      "objectives = [\"latency\"]\nsampler = \"certify\"\n"
      "[[workload]]\nphase = \"decode\"\nbatch = [1, 2]\ncontext = 128\n"
      "[[workload]]\nphase = \"prefill\"\nbatch = 3\nnew_tokens = 16\n"
      "[[workload]]\nphase = \"prefill\"\nbatch = 3\nnew_tokens = 8\n");
  recorded.record_times([](std::int64_t, int) { return 1000.0; });
  MeasuredSweep sweep(recorded.plan(), recorded.context(), CertifySettings{.tells_stored = false});
  const TuneRun run = sweep.measure();
  const StepsToCertify& steps = sweep.certifier()->steps();
  EXPECT_EQ(steps.problem.fronts, (std::vector<std::string>{"decode", "prefill"}));
  EXPECT_EQ(steps.configurations.size(), 4u);
  std::size_t valid = 0;
  for (std::uint64_t c = 0; c < steps.problem.broken.size(); ++c) {
    const std::int32_t broken = steps.problem.broken[c];
    if (broken >= 0) {
      EXPECT_LT(as_size(broken), steps.problem.constraints.size());
      EXPECT_FALSE(steps.configurations.contains(c));
      continue;
    }
    ++valid;
    const Configuration& configuration = steps.configurations.at(c);
    EXPECT_EQ(steps.problem.front_of[c], configuration.workload.phase == Phase::decode ? 0 : 1);
  }
  EXPECT_EQ(valid, 4u);
  EXPECT_EQ(run.evaluations.size(), 4u);
  EXPECT_EQ(conclude(*sweep.certifier(), run.id, 3, {}).data.at("configurations"), 4);
}

}  // namespace
}  // namespace halmark::tune
