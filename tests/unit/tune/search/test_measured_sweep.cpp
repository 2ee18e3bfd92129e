// Measured sweeps from a journal that has every row: what is resumed, what the front is, what is
// stored, and where a budget ends the search.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/stopped.hpp"
#include "tests/unit/tune/recorded_sweep.hpp"
#include "tune/search/front.hpp"

namespace halmark::tune {
namespace {

using test::decode_sweep;
using test::RecordedKernel;
using test::RecordedSweep;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::int64_t> batches_of(const TuneRun& run) {
  std::vector<std::int64_t> out;
  for (const std::size_t i : run.front) {
    out.push_back(run.evaluations[i].configuration.workload.batch);
  }
  return out;
}

TuneRun measured(RecordedSweep& sweep) {
  return MeasuredSweep(sweep.plan(), sweep.context(), {}).measure();
}

TEST(MeasuredSweep, composes_the_steps_of_recorded_kernels) {
  RecordedSweep sweep(decode_sweep("[1, 2, 4]", "[\"latency\", \"throughput\"]"));
  const std::int64_t id =
      sweep.record_times([](std::int64_t batch, int) { return batch == 2 ? 900.0 : 1000.0; });
  const TuneRun run = measured(sweep);
  EXPECT_EQ(run.id, id);
  EXPECT_TRUE(run.is_resumed);
  EXPECT_THAT(run.notes, IsEmpty()) << "nothing is in doubt";
  EXPECT_EQ(run.rows.size(), sweep.kernels().size() * 3);
  ASSERT_EQ(run.evaluations.size(), 3u);
  for (const Evaluation& e : run.evaluations) {
    const std::int64_t batch = e.configuration.workload.batch;
    const double ns = sweep.executions(batch) * (batch == 2 ? 900 : 1000);
    EXPECT_NEAR(e.estimate.value().step_ns / ns, 1, 1e-12);
    EXPECT_NEAR(e.estimate->tokens_per_s / (static_cast<double>(batch) / ns * 1e9), 1, 1e-12);
  }
  EXPECT_THAT(batches_of(run), ElementsAre(2, 4)) << "by latency";
  EXPECT_TRUE(std::ranges::is_sorted(run.evaluations, {}, &Evaluation::configuration));
}

TEST(MeasuredSweep, stores_its_evaluations_once_and_a_second_look_takes_them) {
  RecordedSweep sweep(decode_sweep("[1, 2]", "[\"latency\"]"));
  sweep.record([](const RecordedKernel& k, Measurement& m) {
    m.duration_ns_median = k.batch == 1 ? 1000 : m.round % 2 == 0 ? 900 : 1200;
    m.wall_s = 0.001;
  });
  const TuneRun first = measured(sweep);
  EXPECT_EQ(sweep.store().rows<Evaluation>(first.id).size(), 2u);
  ASSERT_EQ(first.notes.size(), 1u);
  EXPECT_THAT(first.notes[0], HasSubstr("further rows"));
  const TuneRun second = measured(sweep);
  EXPECT_THAT(second.notes, IsEmpty()) << "repeats are not begun again";
  EXPECT_EQ(sweep.store().rows<Evaluation>(first.id).size(), 2u);
  ASSERT_EQ(second.evaluations.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(second.evaluations[i].estimate->low_ns, first.evaluations[i].estimate->low_ns);
    EXPECT_EQ(second.evaluations[i].standing->probability,
              first.evaluations[i].standing->probability);
  }
}

TEST(MeasuredSweep, an_interruption_stores_nothing) {
  RecordedSweep sweep(decode_sweep("[1, 2]", "[\"latency\"]"));
  const std::int64_t id = sweep.record_times([](std::int64_t, int) { return 1000.0; });
  sweep.context().stop = halmark::test::stopped();
  const TuneRun run = measured(sweep);
  EXPECT_THAT(run.evaluations, IsEmpty());
  EXPECT_THAT(run.notes, IsEmpty());
  EXPECT_THAT(sweep.store().rows<Evaluation>(id), IsEmpty());
}

TEST(MeasuredSweep, a_run_begins_where_the_journal_has_none) {
  RecordedSweep sweep(decode_sweep("[1]", "[\"latency\"]"));
  AllKernels all;
  MeasuredEvaluator begun(sweep.plan(), sweep.plan().composers(), sweep.context(), all);
  EXPECT_FALSE(begun.is_resumed());
  const RunInfo info = sweep.store().run_info(begun.run());
  EXPECT_EQ(info.plan_hash, sweep.plan().hash());
  EXPECT_EQ(info.fingerprint, "machine-1");
  EXPECT_EQ(info.command, "halmark tune s.toml");
  MeasuredEvaluator resumed(sweep.plan(), sweep.plan().composers(), sweep.context(), all);
  EXPECT_TRUE(resumed.is_resumed());
  EXPECT_EQ(resumed.run(), begun.run());
}

// Rows of another build are no answer: the kernels are asked for again, which fails here.
TEST(MeasuredSweep, rows_of_another_build_of_the_plugin_do_not_count) {
  for (const char* stored : {"00ff", "", "00fe"}) {
    RecordedSweep sweep(decode_sweep("[1]", "[\"latency\"]"));
    sweep.record([&](const RecordedKernel&, Measurement& m) {
      m.duration_ns_median = 1000;
      m.plugin_hash = stored;
    });
    const std::vector<Evaluation> evaluations = sweep.evaluations();
    EXPECT_EQ(evaluations.front().estimate.has_value(), std::string(stored) != "00fe");
  }
}

TEST(MeasuredSweep, a_kernel_that_failed_is_named_with_the_reason_of_its_last_round) {
  RecordedSweep sweep(decode_sweep("[1, 2]", "[\"latency\"]"));
  const KernelCase broken = sweep.kernels().front().kernel_case;
  sweep.record([&](const RecordedKernel& k, Measurement& m) {
    m.duration_ns_median = 1000;
    m.wall_s = 0.5;
    if (k.kernel_case != broken) return;
    m.status = m.round == 2 ? Status::nan_result : Status::wrong_result;
    m.reason = "round " + std::to_string(m.round);
  });
  const std::vector<Evaluation> evaluations = sweep.evaluations();
  ASSERT_EQ(evaluations.size(), 2u);
  EXPECT_FALSE(evaluations[0].estimate);
  EXPECT_EQ(evaluations[0].status, Status::nan_result);
  EXPECT_EQ(evaluations[0].reason, broken.problem.text() + ": nan_result: round 2");
  EXPECT_TRUE(evaluations[1].estimate) << "it shares no kernel";
  EXPECT_DOUBLE_EQ(sweep.evaluator().measured_s(),
                   0.5 * 3 * static_cast<double>(sweep.kernels().size()));
}

// Two phases with 12 configurations each: every phase may use the part of the budget that its
// configurations are of all. Batches of eight are measured together.
TEST(MeasuredSweep, a_sampler_ends_with_the_share_of_the_budget_of_each_phase) {
  const std::string toml =
      "name = \"s\"\nmodel = \"tiny\"\ndtypes = [\"f32\"]\nstrategies = [\"data\"]\n"
      "objectives = [\"latency\"]\nsampler = \"random\"\nbudget_s = 1\n"
      "[[workload]]\nphase = \"decode\"\nbatch = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]\n"
      "context = 128\n"
      "[[workload]]\nphase = \"prefill\"\nnew_tokens = 16\n"
      "batch = [14, 15, 17, 18, 20, 21, 22, 24, 25, 26, 27, 28]\n";
  struct Case {
    double wall_s;
    std::size_t decode, prefill;
  };
  RecordedSweep counted(toml);
  // Rows of one configuration: its kernels in three rounds.
  const double rows = static_cast<double>(counted.kernels().size()) / 24 * 3;
  for (const Case& c :
       {Case{0.2, 8, 8}, Case{0.07, 8, 8}, Case{0.055, 12, 8}, Case{0.03, 12, 12}}) {
    RecordedSweep sweep(toml);
    ASSERT_FALSE(sweep.plan().covers_everything());
    sweep.record([&](const RecordedKernel& k, Measurement& m) {
      m.duration_ns_median = 1000 + static_cast<double>(k.batch) * 100;
      m.duration_ns_interval = {m.duration_ns_median, m.duration_ns_median};
      m.wall_s = c.wall_s / rows;
    });
    const TuneRun run = measured(sweep);
    std::size_t decode = 0;
    for (const Evaluation& e : run.evaluations) {
      decode += e.configuration.workload.phase == Phase::decode;
    }
    EXPECT_EQ(decode, c.decode) << c.wall_s;
    EXPECT_EQ(run.evaluations.size() - decode, c.prefill) << c.wall_s;
    const auto note = [](const char* phase, std::size_t tried) {
      return std::string(phase) + ": " + std::to_string(tried) +
             " of 12 configurations were tried by random within the budget of 1 s";
    };
    std::vector<std::string> notes;
    const double decode_s = c.wall_s * static_cast<double>(c.decode);
    if (decode_s >= 0.5) notes.push_back(note("decode", c.decode));
    if (decode_s + c.wall_s * static_cast<double>(c.prefill) >= 1) {
      notes.push_back(note("prefill", c.prefill));
    }
    EXPECT_EQ(run.notes, notes);
  }
}

Evaluation step_of(Phase phase, int tp, double ns, std::int64_t bytes) {
  Evaluation out;
  out.configuration.workload.phase = phase;
  out.configuration.parallel.tp = tp;
  out.estimate = Estimate{.step_ns = ns, .memory_bytes_total = bytes};
  return out;
}

TEST(MeasuredSweep, says_that_its_figures_are_stored_ones) {
  RecordedSweep recorded(decode_sweep("[1]", "[\"latency\"]"));
  recorded.record_times([](std::int64_t, int) { return 1000.0; });
  MeasuredSweep sweep(recorded.plan(), recorded.context(), std::nullopt);
  EXPECT_EQ(sweep.measure().kept,
            "stored figures of run 1, begun 2026-11-21T10:20:30Z: nothing was measured now; "
            "--rerun measures in a new run");
}

TEST(StepFront, decode_comes_first_and_phases_do_not_compete) {
  std::vector<Evaluation> all = {
      step_of(Phase::prefill, 1, 50, 9),  step_of(Phase::decode, 1, 30, 1),
      step_of(Phase::decode, 2, 10, 3),   step_of(Phase::decode, 3, 30, 2),
      step_of(Phase::prefill, 2, 40, 10), step_of(Phase::decode, 4, 20, 2)};
  Evaluation refused;
  refused.configuration.workload.phase = Phase::decode;
  all.insert(all.begin(), refused);
  const std::vector<Objective> objectives = {Objective::latency, Objective::memory};
  EXPECT_THAT(step_front(all, objectives), ElementsAre(3, 6, 2, 5, 1));
  EXPECT_THAT(step_front(all, std::vector{Objective::memory}), ElementsAre(2, 1));
}

// A bound that beats everything takes no place of what was measured; asked to compete, it does.
TEST(StepFront, bounds_stand_beside_what_was_measured) {
  std::vector<Evaluation> all = {step_of(Phase::decode, 1, 30, 1), step_of(Phase::decode, 2, 10, 3),
                                 step_of(Phase::decode, 3, 40, 4),  // dominated by measured ones
                                 step_of(Phase::decode, 4, 5, 1),   // the bounds
                                 step_of(Phase::decode, 5, 20, 2)};
  for (std::size_t i = 0; i < 3; ++i) all[i].estimate->provenance = Provenance::measured;
  for (std::size_t i = 3; i < 5; ++i) all[i].estimate->provenance = Provenance::roofline;
  const std::vector<Objective> objectives = {Objective::latency, Objective::memory};
  EXPECT_THAT(step_front(all, objectives), ElementsAre(3, 1, 0));
  EXPECT_THAT(step_front(all, objectives, true), ElementsAre(3));
}

}  // namespace
}  // namespace halmark::tune
