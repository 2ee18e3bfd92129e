// LatencySource: the one interface through which rooms ask "how long does this kernel take?".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/kernel_case.hpp"
#include "core/measurement.hpp"

namespace halmark {

enum class Provenance { measured, interpolated, roofline, imported };
std::string_view provenance_name(Provenance provenance);

// One kernel's latency with where it came from. low <= ns <= high; lower_bound_ns <= ns.
struct Latency {
  double ns = 0;
  double low_ns = 0;
  double high_ns = 0;
  double lower_bound_ns = 0;  // roofline at the measured peak
  Provenance provenance = Provenance::roofline;
  Status status = Status::ok;  // ok or suspect when usable
  std::string reason;          // why suspect, or why there is no latency
  std::string implementation;
  int rounds = 0;  // processes behind a measured figure
};

class LatencySource {
 public:
  virtual ~LatencySource() = default;
  // Announces cases that will be asked for, so that they can be measured together in rounds.
  virtual void require(std::span<const KernelCase> cases) = 0;
  // Nothing when the source has no figure for this case. Does not measure.
  virtual std::optional<Latency> latency(const KernelCase& kernel_case) const = 0;
};

// Latency of a collective between shards that cannot be measured here (a fabric model).
class CollectiveCost {
 public:
  virtual ~CollectiveCost() = default;
  virtual std::optional<Latency> collective(const Problem& problem) const = 0;
};

// Folds the rounds of one case into a Latency: median of process medians; interval of the medians
// (min..max below 6 rounds) widened to the union of in-process intervals when one round only.
// Rows without a latency are ignored, suspect rows too where at least two rows are ok; nothing when
// none is usable.
std::optional<Latency> fold_rounds(std::span<const Measurement> rounds, double lower_bound_ns);

// fold_rounds; without a valid row the noisy ones stand in, labelled suspect: noise fails no run.
std::optional<Latency> fold_usable_rounds(std::span<const Measurement> rounds,
                                          double lower_bound_ns);

// The process medians that fold_usable_rounds rests on.
std::vector<double> process_medians_ns(std::span<const Measurement> rounds);

}  // namespace halmark
