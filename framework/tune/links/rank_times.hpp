// Collectives of two ranks on this machine, measured as every kernel is and fitted on half of their
// sizes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "simulate/collectives/fit.hpp"
#include "tune/evaluate/measure_kernels.hpp"

namespace halmark::tune {

struct RankTimes {
  std::vector<simulate::CollectivePoint> points;  // one per size and round, in order of sizes
  std::string reason;                             // why there are none
};

// 1 KiB to 64 MiB by powers of two, f32, on the first two parts of device "0". The rounds of the
// campaign take the sizes in random order each.
RankTimes measure_two_ranks(simulate::Collective collective, const KernelMeasuring& measuring);

struct PredictedSize {
  double bytes = 0, measured_s = 0, modelled_s = 0;  // median of the rounds
};

// Fitted on every other size; the others are predicted.
struct HalvedFit {
  simulate::CollectiveFit fit;
  std::vector<PredictedSize> predicted;
  double mean_error = 0, worst_error = 0;  // |modelled / measured - 1| of the predicted
};
// Throws as fit_collective does, of too few sizes.
HalvedFit fit_half(simulate::Collective collective,
                   std::span<const simulate::CollectivePoint> points);

}  // namespace halmark::tune
