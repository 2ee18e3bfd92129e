// Sole user of Google Benchmark. Manual time has no wall-clock guard in that library, hence a fixed
// iteration count and a deadline of our own; repetitions are other processes, never Repetitions(k).
#include "measure/sampling/gbench.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "core/lists.hpp"

namespace halmark {
namespace {

using protocol::StopReason;

enum class End { none, deadline, failed };

struct Block {
  SampleStep& step;
  ClockSource& clock;
  double deadline_ns;
  std::vector<TimedSample>& samples;
  ChunkLabels& labels;
  End end = End::none;
  double seconds = 0;  // what was handed to SetIterationTime: the second book
};

bool take_one(Block& block, TimedSample& sample) {
  if (!block.step.arrange(sample.set)) return false;
  const double cpu_begin_ns = block.clock.cpu_ns();
  sample.begin_ns = block.clock.wall_ns();
  const bool executed = block.step.execute();
  sample.wall_ns = block.clock.wall_ns() - sample.begin_ns;
  sample.cpu_ns = block.clock.cpu_ns() - cpu_begin_ns;
  if (executed) sample.device_ns = block.step.device_ns();
  return executed;
}

void run_block(benchmark::State& state, Block& block) {
  block.labels.begin_block();
  for ([[maybe_unused]] auto iteration : state) {
    TimedSample sample;
    if (!take_one(block, sample)) {
      block.end = End::failed;
      state.SkipWithError("step failed");
      break;
    }
    block.samples.push_back(sample);
    block.labels.add_newest();
    state.SetIterationTime(sample.wall_ns * 1e-9);
    block.seconds += sample.wall_ns * 1e-9;
    if (block.deadline_ns > 0 && sample.begin_ns + sample.wall_ns >= block.deadline_ns) {
      block.end = End::deadline;
      state.SkipWithError("deadline");
      break;
    }
  }
  block.labels.end_block();
}

// 1.8 replaced the flag by an enumeration.
template <class Run>
bool was_skipped(const Run& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred;
  } else {
    return as_int(run.skipped) != 0;
  }
}

// Prints nothing; keeps the totals that the library counted.
class TotalsReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      skipped_ = skipped_ || was_skipped(run);
      iterations_ += as_int64(run.iterations);
      seconds_ += run.real_accumulated_time;
    }
  }
  bool skipped() const { return skipped_; }
  std::int64_t iterations() const { return iterations_; }
  double seconds() const { return seconds_; }

 private:
  bool skipped_ = false;
  std::int64_t iterations_ = 0;
  double seconds_ = 0;
};

void initialize_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    // The library eats argv and must see no argument of ours.
    char program[] = "halmark-worker";
    char* arguments[] = {program, nullptr};
    int count = 1;
    benchmark::Initialize(&count, arguments);
  });
}

// Our vector and the library's totals must tell the same story.
std::string compare_totals(const TotalsReporter& reporter, std::int64_t n, double seconds) {
  if (reporter.skipped()) return {};
  if (reporter.iterations() != n) {
    return "google benchmark ran " + std::to_string(reporter.iterations()) + " iterations of " +
           std::to_string(n);
  }
  const double difference_s = std::abs(reporter.seconds() - seconds);
  if (difference_s > 1e-9 * std::max(1.0, seconds)) {
    return "google benchmark counted " + std::to_string(reporter.seconds()) + " s, the samples " +
           std::to_string(seconds) + " s";
  }
  return {};
}

// Runs n samples through the registry; gives the disagreement between the books, if any.
std::string run_registered(const std::string& name, std::int64_t n, Block& block) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [&block](benchmark::State& state) { run_block(state, block); })
      ->Iterations(n)
      ->UseManualTime()
      ->Repetitions(1);
  TotalsReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter, ".");
  benchmark::ClearRegisteredBenchmarks();
  return compare_totals(reporter, n, block.seconds);
}

// Enough samples that the look at the rule costs little, few enough that it comes soon.
std::int64_t block_size(const SamplePlan& plan, std::int64_t taken) {
  constexpr double block_ns = 5e6;
  constexpr std::int64_t largest = 256;
  const std::int64_t remaining = plan.max_samples - taken;
  if (taken == 0) return std::clamp<std::int64_t>(plan.first_block, 1, remaining);
  if (plan.expected_sample_ns <= 0) return 1;
  const double fitting = std::clamp(block_ns / plan.expected_sample_ns, 1.0, double{largest});
  return std::min(as_int64(fitting), remaining);
}

}  // namespace

SampleSeries take_samples(const SamplePlan& plan, SampleStep& step, StopRule& rule,
                          ClockSource& clock) {
  initialize_once();
  SampleSeries series;
  series.samples.reserve(as_size(plan.max_samples));
  ChunkLabels labels(plan.counters, plan.chunk, series.samples);
  rule.start();
  while (true) {
    const std::size_t before = series.samples.size();
    const std::int64_t n = block_size(plan, as_int64(before));
    Block block{step, clock, plan.deadline_ns, series.samples, labels};
    series.totals_mismatch = run_registered(plan.name, n, block);
    for (std::size_t i = before; i < series.samples.size(); ++i) {
      add_labelled(rule, series.samples[i].label, series.samples[i].wall_ns);
    }
    series.is_failed = block.end == End::failed;
    if (rule.finished()) {
      series.stop_rule = rule.reason();
    } else if (block.end == End::deadline) {
      series.stop_rule = StopReason::deadline;
    } else if (std::ssize(series.samples) >= plan.max_samples) {
      series.stop_rule = StopReason::max_samples;
    }
    const bool is_over = series.is_failed || series.stop_rule != StopReason::none;
    if (!is_over && series.totals_mismatch.empty()) continue;
    series.clean = labels.clean();
    return series;
  }
}

std::string gbench_description() { return "google benchmark " HALMARK_GBENCH_VERSION; }

}  // namespace halmark
