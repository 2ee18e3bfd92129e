// How well one measured row uses a device: FLOP/s, the three MFU figures, the share of the
// roofline, quarantine. Of a whole step: model/utilisation.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/device.hpp"
#include "core/result.hpp"
#include "core/work.hpp"
#include "roofline/bound.hpp"

namespace halmark {

inline bool is_within_peak(double fraction) {
  constexpr double rounding = 1e-9;  // of a bound against itself
  return fraction <= 1 + rounding;
}
// A figure above its peak says that the peak is too low, not that a kernel is fast. `peak` names it
// for the reason.
Result<double, std::string> fraction_of_peak(double fraction, std::string_view peak);

inline constexpr std::string_view measured_peak_name =
    "the measured peak, which was taken in a slower minute: halmark peaks measures it again";

struct RowUtilisation {
  double flops_per_s = 0;  // matmul FLOPs of the contract over time
  double bytes_per_s = 0;
  std::optional<double> mfu;            // of the best measured path for the compute dtype
  std::optional<double> path_fraction;  // of the dispatched isa path
  std::optional<double> mfu_datasheet;
  std::optional<double> roofline_fraction;  // lower bound / time
  std::string mfu_reason;                   // why a figure is absent
  double lower_bound_ns = 0;
  Limiter limiter = Limiter::unknown;
  std::string quarantine;  // of roofline::quarantine, else empty
};

struct RowDevices {
  const Device* measured = nullptr;
  const Device* datasheet = nullptr;
  int threads = 1;  // of one shard
};

// A device that is null leaves its figures absent with a reason. `isa` is the dispatched path ("" =
// unknown: path_fraction is absent, never guessed). duration_ns > 0. `bound` is the row's at the
// measured peaks.
RowUtilisation row_utilisation(const Work& work, const roofline::Bound& bound,
                               const RowDevices& devices, std::string_view isa, double duration_ns);

}  // namespace halmark
