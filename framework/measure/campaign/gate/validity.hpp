// The validity gate: decides whether a measurement may be trusted. It never corrects a figure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/measured/measurement.hpp"

namespace halmark {

// One signal's two limits; a value above `suspect` or `invalid` gives that verdict.
struct Limit {
  double suspect = 0;
  double invalid = 0;
};

// Defaults for a shared Linux machine; `halmark aa` finds those of this one, a sweep file replaces
// each. All are shares or rates, so that they mean the same for samples of 20 us and of 60 ms. What
// samples that were set aside have suffered is in none but the first.
struct ValidityThresholds {
  static constexpr double never = 1e300;
  Limit disturbed_samples{0.5, 0.9};  // of all that have a label
  Limit wall_cpu_ratio{1.02, 1.05};   // median of wall / CPU time
  // Of all clean chunks together: one that was preempted shifts it although the median stands, so
  // it never invalidates.
  Limit loop_wall_cpu_ratio{1.05, never};
  Limit run_delay_fraction{0.01, 0.05};  // of the time of the clean chunks
  // Beside the delay itself a switch costs refilled caches: about 20 us, or 1 % at the first limit.
  Limit involuntary_switches_per_s{500, 5000};
  Limit steal_fraction{0.02, 0.10};  // of the last second or more
  // Clock probe before against after; where the first and the last third of the samples agree
  // within `suspect`, the clock moved outside the loop and never invalidates.
  Limit clock_moved{0.02, 0.05};
  // Its own core clock, of a device that states it: those that power limits move it by some
  // percent.
  Limit device_clock_moved{0.05, 0.25};
  Limit peak_moved{0.03, 0.05};      // peak probe before against after
  Limit bandwidth_moved{0.1, 0.25};  // of rows that the memory bounds: another state of the machine
  Limit load_per_cpu{never, never};  // shown: what it does to a sample, the counters say
  Limit throttled_periods{0, 0};     // where chunks do not show it
  double dropped_fraction_suspect = 0.5;  // co-measured samples that did not overlap
  double deadline_half_width = 0.01;      // an interval this tight excuses a `deadline` stop
  double slope_disagreement = 0.10;       // device timer against host slope
};

// A signal that has two limits, as reasons name it.
struct GateSignal {
  std::string_view name;
  std::string_view key;  // of [measure], which replaces the first limit; "" = none does
  Limit ValidityThresholds::*limit;
};
// In the order in which they are judged.
std::span<const GateSignal> gate_signals();

struct Verdict {
  Status status = Status::ok;  // ok, suspect, invalid or quarantined
  std::string reason;          // empty when ok; otherwise signal, value and limit
};

// Judges signals, probes and samples of a measurement that has samples. The worst signal decides;
// ties go to the first in the order above. Absent signals do not count against a measurement: their
// reason stays in the row.
// `is_memory_bound`: a change of the memory's bandwidth changes its time.
Verdict judge_validity(const Measurement& measurement, const ValidityThresholds& thresholds,
                       bool is_memory_bound = false);

// The share of samples that nothing disturbed, as a signal of a row.
Signal clean_share(std::span<const Sample> samples);

// Relative distance |a - b| / max(a, b); 0 when both are 0.
double relative_move(double a, double b);

}  // namespace halmark
