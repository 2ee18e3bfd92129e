// What the probes around a trial say of the machine.
#include "worker/machine_probes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace halmark::worker {
namespace {

TEST(MachineProbes, have_no_peak_of_a_dtype_that_nothing_multiplies) {
  SystemClock clock;
  MachineProbes probes(clock);
  double clock_hz = 0, peak_flops = 0;  // the best of some: others take parts of their windows
  for (int i = 0; i < 5; ++i) {
    const MachineReading known = probes.read(Dtype::f32);
    ASSERT_TRUE(known.clock_hz && known.peak_flops);
    clock_hz = std::max(clock_hz, *known.clock_hz);
    peak_flops = std::max(peak_flops, *known.peak_flops);
  }
  EXPECT_GT(clock_hz, 0.3e9);
  EXPECT_GT(peak_flops, 1e8);
  EXPECT_FALSE(probes.read(Dtype::s32).peak_flops);
}

}  // namespace
}  // namespace halmark::worker
