// What the probes around a trial say of the machine.
#include "worker/machine_probes.hpp"

#include <gtest/gtest.h>

namespace halmark::worker {
namespace {

TEST(MachineProbes, have_no_peak_of_a_dtype_that_nothing_multiplies) {
  SystemClock clock;
  MachineProbes probes(clock);
  const MachineReading known = probes.read(Dtype::f32);
  ASSERT_TRUE(known.clock_hz && known.peak_flops);
  EXPECT_GT(*known.clock_hz, 0.3e9);
  EXPECT_GT(*known.peak_flops, 1e8);
  EXPECT_FALSE(probes.read(Dtype::s32).peak_flops);
}

}  // namespace
}  // namespace halmark::worker
