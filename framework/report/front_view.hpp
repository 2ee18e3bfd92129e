// What several formats ask of a RunReport: the front per phase, its labels, its verdicts.
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

// "b4 bf16 tp2": batch, precision and the axes above 1 ("1 shard" when none is); new tokens and
// context only where the report has more than one of them.
std::string deployment_label(const Configuration& configuration, const RunReport& report);

// Operator name -> strategy, in the order of the operators.
std::vector<std::pair<std::string, std::string>> strategies(const Estimate& estimate);

bool is_suspect(const RunReport& report);
// "valid", "suspect", or "none" where there is no front to be either.
std::string validity(const RunReport& report);
// The same in a sentence.
std::string validity_text(const RunReport& report);
// "within", "exceeded" (median above 5 % or one point above 15 %) or "UNDECIDED".
std::string composition_verdict(const ErrorOverPoints& error);
// "composition error: median 3.1 %, worst 8.0 % over 6 points (within 5 % and 15 %); 1 left out"
std::string composition_text(const RunReport& report);
// "prediction error: median 7.2 %, worst 21 % over 5 points: ..."; "" where nothing was run.
std::string prediction_text(const RunReport& report);

// Shares of the best bandwidth at which the kernels were measured; nothing where none is known.
struct BandwidthSpan {
  double low = 0, median = 0, high = 0;
  std::size_t kernels = 0;
};
std::optional<BandwidthSpan> bandwidth_span(const RunReport& report);
// "memory while measuring: at 52 % of the best bandwidth (44 % .. 61 %, 12 kernels)"; "" where
// nothing is known.
std::string bandwidth_state_text(const RunReport& report);
// "kernels between their neighbours: 72 % .. 78 % of the time of the front's steps"; "" where all
// were measured in loops of their own.
std::string in_stack_text(const RunReport& report);

// Matmul FLOP/s and bytes/s of a kernel; nothing without a latency.
std::optional<double> flops_per_s(const KernelPoint& kernel);
std::optional<double> bytes_per_s(const KernelPoint& kernel);

// Why a kernel's figure cannot be true: quarantined, faster than its bound, or above the roof of
// the measured device. Empty when nothing contradicts it.
std::string contradiction(const KernelPoint& kernel, const RunReport& report);

}  // namespace halmark::report
