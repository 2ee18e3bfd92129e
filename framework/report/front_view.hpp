// What several formats ask of a RunReport: the front per phase and its labels.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/report.hpp"

namespace halmark::report {

// One front point with what belongs to it. Pointers live as long as the report.
struct FrontRow {
  const FrontPoint* point = nullptr;
  const Evaluation* evaluation = nullptr;
  const Estimate* estimate = nullptr;
  const Validation* validation = nullptr;  // nullptr: never confronted with a run
  std::string label;                       // "b4 bf16 tp2"; short, unique within the report
  std::string anchor;                      // "point-3": identifies it inside the page

  std::optional<double> measured_ns() const;
  std::string measured_reason() const;  // why measured_ns is absent
  // Of the printed latency, and of the sum of its kernels beside the run.
  std::optional<double> prediction_error() const;
  std::optional<double> composition_error() const;
  std::string composition_reason() const;  // why composition_error is absent
};

struct PhaseView {
  Phase phase = Phase::decode;
  std::vector<FrontRow> front;            // in order of latency
  std::vector<const Evaluation*> others;  // usable, not on the front
  std::size_t evaluations = 0;            // of this phase, refused and failed ones included
};

// Phases that were evaluated, decode first.
std::vector<PhaseView> phase_views(const RunReport& report);

// Of a phase that need not have been evaluated.
PhaseView phase_view_of(const RunReport& report, Phase phase);

// "b4 bf16 tp2": batch, precision and the axes above 1 ("1 shard" when none is); new tokens and
// context only where the report has more than one of them.
std::string deployment_label(const Configuration& configuration, const RunReport& report);

// Operator name -> strategy, in the order of the operators.
std::vector<std::pair<std::string, std::string>> strategies(const Estimate& estimate);

// Where a run should lie; what its kernels' processes say, where no state of the memory is known.
Interval interval_of(const Estimate& estimate);

}  // namespace halmark::report
