#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "measure/probe/clock_probe.hpp"
#include "measure/probe/cpu_features.hpp"
#include "measure/probe/peak_kernels.hpp"

namespace halmark {
namespace {

TEST(ClockProbe, reads_a_clock_that_a_cpu_can_have) {
  SystemClock clock;
  double hz = 0;  // the best of some: others of this machine take parts of their windows
  for (int i = 0; i < 5; ++i) hz = std::max(hz, probe_clock_hz(clock, 5));
  EXPECT_GT(hz, 0.3e9);
  EXPECT_LT(hz, 7e9);
}

// The kernel's own list of CPU flags.
#if defined(__aarch64__)
bool cpuinfo_has(const std::string& flag) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("Features", 0) == 0)
      return (line + " ").find(" " + flag + " ") != std::string::npos;
  }
  return false;
}

bool lists(const std::string& path, const std::string& isa) {
  const auto paths = peak_paths();
  return std::ranges::any_of(paths,
                             [&](const PeakPath& p) { return p.path == path && p.isa == isa; });
}

// The words the kernel prints: asimddp, asimdhp, bf16. An emulator may show its host's file
// instead.
TEST(PeakPaths, agree_with_the_flags_that_the_kernel_reports) {
  EXPECT_TRUE(lists("f32_vector", "asimd"));
  if (!cpuinfo_has("asimd")) GTEST_SKIP() << "/proc/cpuinfo is another processor's";
  EXPECT_EQ(lists("s8_vector", "asimd_dotprod"), cpuinfo_has("asimddp"));
  EXPECT_EQ(lists("f16_vector", "asimd_fp16"), cpuinfo_has("asimdhp"));
  EXPECT_EQ(lists("bf16_vector", "asimd_bf16"), cpuinfo_has("bf16"));
}
#endif

TEST(PeakPaths, every_listed_path_runs_at_a_plausible_rate) {
  SystemClock clock;
  for (const PeakPath& path : peak_paths()) {
    const ProbeRates probed = probe_peak(path.path, path.isa, {1, allowed_cpus()}, 3, 0.5, clock);
    if (probed.rates.empty()) {
      EXPECT_EQ(probed.reason, "AMX not permitted by the kernel") << path.path;
      continue;
    }
    ASSERT_EQ(probed.rates.size(), 3u) << path.path;
    for (const double rate : probed.rates) {
      EXPECT_GT(rate, 1e7) << path.path << ' ' << path.isa;
      EXPECT_LT(rate, 1e14) << path.path << ' ' << path.isa;
    }
  }
}

// More would mean that the loop does not execute its instructions.
TEST(PeakPaths, no_kernel_exceeds_what_two_units_of_its_width_can_do_per_cycle) {
  SystemClock clock;
  for (const PeakPath& path : peak_paths()) {
    if (path.isa != "avx2" && path.isa != "avx512_core") continue;
    const auto probed = probe_peak(path.path, path.isa, {1, allowed_cpus()}, 5, 1, clock);
    ASSERT_FALSE(probed.rates.empty());
    // A neighbour that takes the core away makes the clock look slow, never fast.
    double hz = 0;
    for (int attempt = 0; attempt < 5; ++attempt) hz = std::max(hz, probe_clock_hz(clock, 5));
    const double lanes = path.flops_per_iteration / 12 / 2;
    const double bound = 2 * 2 * lanes * hz;
    EXPECT_LT(std::ranges::max(probed.rates), 1.25 * bound) << path.path << ' ' << path.isa;
  }
}

TEST(PeakPaths, several_threads_give_one_rate_per_window) {
  SystemClock clock;
  const auto probed = probe_peak("f32_vector", "", {2, allowed_cpus()}, 4, 0.5, clock);
  EXPECT_EQ(probed.rates.size(), 4u) << probed.reason;
}

// Two on one CPU take turns on it, as beside a busy neighbour.
TEST(PeakPaths, threads_that_wait_for_a_cpu_say_so) {
  SystemClock clock;
  const int cpu = allowed_cpus().front();
  const auto probed = probe_peak("f32_vector", "", {2, {cpu, cpu}}, 4, 20, clock);
  EXPECT_LT(probed.cpu_share, busy_cpu_share);
  EXPECT_GT(probed.cpu_share, 0);
}

TEST(MemoryProbe, reads_without_writing) {
  SystemClock clock;
  std::vector<std::byte> memory(1 << 18, std::byte{7});
  const auto probed = probe_memory(MemoryKernel::read, memory, {2, allowed_cpus()}, 3, 0.5, clock);
  ASSERT_EQ(probed.rates.size(), 3u) << probed.reason;
  for (const double rate : probed.rates) EXPECT_GT(rate, 1e7);
  EXPECT_TRUE(std::ranges::all_of(memory, [](std::byte b) { return b == std::byte{7}; }));
}

}  // namespace
}  // namespace halmark
