// The adapter through which every stored steady sample comes. Google Benchmark runs the loop; the
// samples are kept here, because that library keeps only totals.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/timed_sample.hpp"
#include "measure/sampling/chunk_labels.hpp"
#include "measure/sampling/clock_source.hpp"
#include "measure/sampling/stop_rule.hpp"

namespace halmark {

// What happens inside one sample. Only `execute` is inside the interval.
class SampleStep {
 public:
  virtual ~SampleStep() = default;
  // Barrier, rotation, poisoning; gives the first argument set. False ends the series.
  virtual bool arrange(int& set) = 0;
  // The work. False ends the series; the sample is not stored.
  virtual bool execute() = 0;
  // Device time of the interval that just ended, where the device keeps it.
  virtual std::optional<double> device_ns() { return std::nullopt; }
};

struct SamplePlan {
  std::string name;               // registered with the benchmark library
  double expected_sample_ns = 0;  // sizes the blocks between two looks at the stop rule
  double deadline_ns = 0;         // on the clock source's wall clock; 0 = none
  std::int64_t first_block = 1;   // samples before the first look at the stop rule
  std::int64_t max_samples = 4096;
  DisturbanceCounters* counters = nullptr;  // null: samples get no label
  ChunkRule chunk = {};
};

struct SampleSeries {
  std::vector<TimedSample> samples;     // whole intervals of `repeat` executions each
  std::optional<CounterReading> clean;  // what was counted in the clean chunks; nothing without any
  protocol::StopReason stop_rule = protocol::StopReason::none;  // a deadline keeps the samples
  bool is_failed = false;                                       // the step refused to go on
  // Disagreement between our vector and the totals of the library: a defect of the adapter.
  std::string totals_mismatch;
};

// Runs the step in blocks of registered benchmarks, n iterations each, until the rule has finished,
// the plan's maximum is reached or the deadline has passed. One thread; not reentrant, because the
// library's registry is global.
SampleSeries take_samples(const SamplePlan& plan, SampleStep& step, StopRule& rule,
                          ClockSource& clock);

// "google benchmark 1.7.1": belongs to the environment of every row.
std::string gbench_description();

}  // namespace halmark
