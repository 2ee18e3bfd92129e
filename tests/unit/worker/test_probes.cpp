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
bool cpuinfo_has(const std::string& flag) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("flags", 0) == 0 || line.rfind("Features", 0) == 0)
      return (line + " ").find(" " + flag + " ") != std::string::npos;
  }
  return false;
}

bool lists(const std::string& path, const std::string& isa) {
  const auto paths = peak_paths();
  return std::ranges::any_of(paths,
                             [&](const PeakPath& p) { return p.path == path && p.isa == isa; });
}

#if defined(__x86_64__)
TEST(PeakPaths, agree_with_the_flags_that_the_kernel_reports) {
  EXPECT_EQ(lists("f32_vector", "avx2"), cpuinfo_has("avx2") && cpuinfo_has("fma"));
  EXPECT_EQ(lists("f32_vector", "avx512_core"), cpuinfo_has("avx512bw") && cpuinfo_has("avx512vl"));
  EXPECT_EQ(lists("s8_vector", "avx512_core_vnni"), cpuinfo_has("avx512_vnni"));
  EXPECT_EQ(lists("bf16_vector", "avx512_core_bf16"), cpuinfo_has("avx512_bf16"));
  EXPECT_EQ(lists("f16_vector", "avx512_core_fp16"), cpuinfo_has("avx512_fp16"));
  EXPECT_EQ(lists("bf16_matrix", "avx512_core_amx"), cpuinfo_has("amx_bf16"));
  EXPECT_EQ(lists("s8_matrix", "avx512_core_amx"), cpuinfo_has("amx_int8"));
}
#elif defined(__aarch64__)
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

TEST(PeakPaths, an_absent_path_has_a_reason_and_no_rates) {
  SystemClock clock;
  const ProbeRates probed = probe_peak("f4_matrix", "none", {1, allowed_cpus()}, 3, 1, clock);
  EXPECT_TRUE(probed.rates.empty());
  EXPECT_NE(probed.reason.find("f4_matrix"), std::string::npos);
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

TEST(ShortPeak, is_absent_for_a_dtype_without_a_path) {
  SystemClock clock;
  EXPECT_EQ(ShortPeakProbe(Dtype::f4_e2m1, clock).flops_per_s(), 0);
  EXPECT_GT(ShortPeakProbe(Dtype::f32, clock).flops_per_s(), 1e8);
}

TEST(MemoryProbe, copies_what_it_says_it_copies) {
  SystemClock clock;
  alignas(64) static std::array<std::byte, 1 << 20> memory;
  for (std::size_t i = 0; i < memory.size() / 2; ++i) memory[i] = static_cast<std::byte>(i % 251);
  const auto probed = probe_memory(MemoryKernel::copy, memory, {1, allowed_cpus()}, 2, 0.5, clock);
  ASSERT_EQ(probed.rates.size(), 2u) << probed.reason;
  EXPECT_TRUE(std::equal(memory.begin(), memory.begin() + (1 << 19), memory.begin() + (1 << 19)));
}

TEST(MemoryProbe, reads_without_writing) {
  SystemClock clock;
  std::vector<std::byte> memory(1 << 18, std::byte{7});
  const auto probed = probe_memory(MemoryKernel::read, memory, {2, allowed_cpus()}, 3, 0.5, clock);
  ASSERT_EQ(probed.rates.size(), 3u) << probed.reason;
  for (const double rate : probed.rates) EXPECT_GT(rate, 1e7);
  EXPECT_TRUE(std::ranges::all_of(memory, [](std::byte b) { return b == std::byte{7}; }));
}

TEST(MemoryProbe, slices_are_read_once_each_and_whole) {
  // A clock that counts how often it is asked: every slice has one begin and one end per thread.
  class Counting final : public ClockSource {
   public:
    double wall_ns() override { return static_cast<double>(++asked_) * 1000; }
    double cpu_ns() override { return 0; }
    int asked() const { return asked_; }

   private:
    int asked_ = 0;
  } clock;
  std::vector<std::byte> memory((3 << 20) + 100, std::byte{7});
  const auto rates = read_slices(memory, 1 << 20, {1, allowed_cpus()}, clock).rates;
  ASSERT_EQ(rates.size(), 3u);
  EXPECT_EQ(clock.asked(), 6);
  // Less than a stride is left out at the ends.
  for (const double rate : rates) EXPECT_NEAR(rate, (1 << 20) / 1e-6, 512 / 1e-6);
  EXPECT_TRUE(read_slices({memory.data(), 100}, 1 << 20, {1, {}}, clock).rates.empty());
}

TEST(MemoryProbe, a_working_set_below_one_stride_per_thread_is_refused) {
  SystemClock clock;
  std::vector<std::byte> memory(600);
  const auto probed = probe_memory(MemoryKernel::copy, memory, {2, allowed_cpus()}, 1, 0.1, clock);
  EXPECT_TRUE(probed.rates.empty());
  EXPECT_FALSE(probed.reason.empty());
}

}  // namespace
}  // namespace halmark
