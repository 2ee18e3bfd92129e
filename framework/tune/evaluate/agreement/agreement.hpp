// How well this machine agrees with itself: the same kernels repeated, pair by pair, in fresh
// processes that alternate. Limits of the gate come from such runs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/numeric/statistics.hpp"
#include "report/views/view.hpp"
#include "tune/evaluate/measure_kernels.hpp"

namespace halmark::tune {

// Two repeats of a case, each of several processes. Differences are of logarithms: 0.01 is 1 %.
struct RepeatPair {
  double difference = 0;  // of the means
  double half_width = 0;  // of its 90 % interval, by Student's t over both sides' pooled spread
  double spread = 0;      // that pooled standard deviation between processes
  bool agrees() const { return difference <= half_width && -difference <= half_width; }
};
// Process medians of the two sides in ns; each needs two at least.
RepeatPair compare_repeats(std::span<const double> first_ns, std::span<const double> second_ns);

struct CaseAgreement {
  std::string problem;
  double median_ns = 0;
  int pairs = 0, agreeing = 0;
  int left_out = 0;        // pairs in which a side had fewer than two processes that are ok
  double noise_floor = 0;  // 95 % of the differences are smaller
  double spread = 0;       // between processes, median over the pairs
  int rows = 0, ok_rows = 0;
};

struct Agreement {
  std::vector<CaseAgreement> cases;
  int rounds = 3;                 // processes of a repeat
  MeasureLimits limits;           // proposed
  std::vector<Measurement> rows;  // that it rests on
  int pairs() const;
  int agreeing() const;
  double share() const;       // of pairs that agree; 0 without any
  Interval interval() const;  // of that share, 95 % (Wilson)
};

// Of rows whose rounds count the processes of all pairs: `rounds` of the one side, then of the
// other, alternating. Incomplete pairs at the end are left out.
Agreement agreement_of(std::span<const KernelCase> cases, std::span<const Measurement> rows,
                       int rounds);

// Small and large, bound by compute and by memory.
std::vector<KernelCase> usual_cases(const std::string& backend, const std::string& device);

struct AgreementRun {
  KernelMeasuring measuring;  // its rounds are the processes of a repeat
  int pairs = 50;             // per case
  std::string path;           // of the file of limits; its folder is created
};
// Measures, folds and writes the limits unless interrupted: the one call that `halmark aa` makes.
// Throws Error (exit 1) naming the path for a storage error.
Agreement measure_agreement(std::span<const KernelCase> cases, const AgreementRun& run);

report::View agreement_view(const Agreement& agreement);

}  // namespace halmark::tune
