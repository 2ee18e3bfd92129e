// Measured kernels as the tables of a device: which errors they have when each point, or each whole
// shape, is predicted by the others; and what they say of kernels that were kept back.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/table_use.hpp"
#include "core/device.hpp"
#include "latency/forecast/forecast_files.hpp"
#include "latency/latency_point.hpp"

namespace halmark::onboard {

// One op.
struct FittedKind {
  std::string op;
  std::vector<LatencyPoint> points;  // none faster than the device can be
  ForecastKind kind;                 // as a manifest states it: `median`, `p90` of left-out points
};
// `floors` tell what a launch takes; far from all others, they say nothing of errors.
std::vector<FittedKind> fitted(std::span<const LatencyPoint> points,
                               const std::set<Problem>& floors, const Device& device,
                               QuarantinedTimes& too_fast);

// The device's file of tables and its manifest as texts; `id` of the device.
struct Tables {
  std::string parquet, manifest;
};
struct TablesOf {
  std::string id, backend, release;  // of its plugin
  std::string file;                  // name of the Parquet file
  std::string source;                // "measured 2026-11-30 by halmark onboard"
};
Tables tables(std::span<const FittedKind> kinds, const TablesOf& of);

// A kernel that was measured and never fitted.
struct HeldKernel {
  std::string family;
  Problem problem;
  double measured_ns = 0;
  std::optional<double> ns, low_ns, high_ns;  // as the tables predict it; absent where none reaches

  double error() const { return *ns / measured_ns - 1; }
  bool is_inside() const { return *low_ns <= measured_ns && measured_ns <= *high_ns; }
};
// Fills in what `file`, as it was written, predicts.
void predict(std::span<HeldKernel> kernels, const ForecastFile& file, const Device& device);

// Of the kernels of a family.
struct FamilyError {
  std::string family;
  std::size_t fitted = 0, held_out = 0, unreached = 0;
  std::optional<double> median, p90, inside;  // of |error|; share inside of the 90 % interval
};
template <class V, Of<FamilyError> M>
void fields(V& v, M& m) {
  v("family", m.family);
  v("fitted", m.fitted);
  v("held_out", m.held_out);
  v("unreached", m.unreached);
  v("error_median", m.median);
  v("error_p90", m.p90);
  v("inside", m.inside);
}
// In the order of names, and all of them together at the end, as "all kernels".
std::vector<FamilyError> family_errors(std::span<const HeldKernel> kernels,
                                       const std::map<std::string, std::size_t>& fitted);

}  // namespace halmark::onboard
