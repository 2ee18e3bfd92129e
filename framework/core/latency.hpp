// LatencySource: the one interface through which rooms ask "how long does this kernel take?".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/fields/fields.hpp"
#include "core/kernel_case.hpp"
#include "core/limiter.hpp"
#include "core/measured/measurement.hpp"
#include "core/work.hpp"

namespace halmark {

// In order of trust: each is farther from a measurement of this very kernel than the one before.
enum class Provenance { measured, imported, interpolated, fabric, roofline };
std::string_view provenance_name(Provenance provenance);
std::optional<Provenance> parse_provenance(std::string_view text);
template <>
inline constexpr ClosedSet<Provenance> closed_set<Provenance>{"a provenance", provenance_name,
                                                              parse_provenance};

// One kernel's latency with where it came from. low <= ns <= high; a usable one is at most 2 %
// below lower_bound_ns.
struct Latency {
  double ns = 0;
  double low_ns = 0;
  double high_ns = 0;
  double lower_bound_ns = 0;           // at the peaks of the device; 0 = unknown
  Limiter limiter = Limiter::unknown;  // of that bound
  Provenance provenance = Provenance::roofline;
  Status status = Status::ok;  // ok or suspect when usable; quarantined below its bound
  std::string reason;          // why suspect, or why there is no latency
  std::string implementation;
  std::string origin;       // of a table: "gemm.csv: gemm bf16 torch_flow"; else empty
  std::string where;        // its row: "gemm.csv:12"
  std::string quarantined;  // what a more trusted source said that cannot be true; else empty
  int rounds = 0;           // processes behind a measured figure
  // The state of the memory while it was measured, of all shards at once: median of its rounds.
  std::optional<double> bytes_per_s = {};
  std::optional<double> flops_per_s = {};  // likewise the short probes of one core
  // Of one execution by one of the shards that ran at once, where their meter was read.
  std::optional<double> energy_j = {};
  std::string energy_origin = {};  // the meter: "rapl", "fake:0"
};

class LatencySource {
 public:
  virtual ~LatencySource() = default;
  // Announces cases that will be asked for, so that they can be measured together in rounds.
  virtual void require(std::span<const KernelCase> cases) = 0;
  // Nothing when the source has no figure for this case. Does not measure.
  virtual std::optional<Latency> latency(const KernelCase& kernel_case) const = 0;
  // The same for a complete problem on one whole device, as the step of a model meets it; `work` is
  // its contract's. A search that prices millions of steps has no case at hand. Nothing from
  // sources that know cases alone.
  virtual std::optional<Latency> latency(const Problem&, const Work&) const { return std::nullopt; }
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
