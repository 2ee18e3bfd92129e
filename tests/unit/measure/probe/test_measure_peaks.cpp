// The whole measurement of this machine's peaks by a worker, stopped early.
#include <gtest/gtest.h>

#include "host/machine.hpp"
#include "host/partition.hpp"
#include "host/process/run_memory.hpp"
#include "measure/probe/peaks.hpp"

namespace halmark {
namespace {

TEST(MeasurePeaks, describes_this_machine_and_what_was_probed_until_it_was_stopped) {
  const Machine machine = this_machine();
  PeakOptions options;
  options.is_quick = true;
  options.date_utc = "2026-11-22T15:04:05Z";
  std::vector<std::string> steps;
  options.progress = [&](double, const std::string& what) { steps.push_back(what); };
  // To the end of the memory of one thread.
  options.should_stop = [&] { return !steps.empty() && steps.back().starts_with("memory slices"); };
  const Device device = measure_peaks(options);
  EXPECT_EQ(device.id, "cpu:0");
  EXPECT_EQ(device.name, machine.cpu_model);
  EXPECT_EQ(device.kind, "cpu");
  EXPECT_EQ(device.fingerprint, machine.fingerprint());
  EXPECT_TRUE(device.is_measured);
  EXPECT_EQ(device.memory_bytes, machine.memory_bytes);
  ASSERT_TRUE(device.clock_hz);
  EXPECT_GT(*device.clock_hz, 0.3e9);
  ASSERT_FALSE(device.peaks.empty());
  for (const Peak& peak : device.peaks) EXPECT_EQ(peak.threads, 1);
  const auto caches = parse_caches(machine.caches);
  EXPECT_EQ(device.bandwidths.size(), 2 * caches.size() + 3);
  const Bandwidth& memory = device.bandwidths.back();
  EXPECT_EQ(memory.level, "memory");
  EXPECT_EQ(memory.access, "slices");
  const auto may_use = static_cast<double>(run_memory().may_use_bytes());
  const double expected = std::min(256.0 * (1 << 20), may_use / 8);
  EXPECT_NEAR(static_cast<double>(memory.working_set_bytes) / expected, 1, 0.2);
  EXPECT_FALSE(device.ring_plateau_bytes);
}

}  // namespace
}  // namespace halmark
