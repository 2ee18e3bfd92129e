// Rates of probes under a clock that moves by a script: how many turns fill a window, what counts,
// and which bytes are touched.
#include "measure/probe/peak_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>

#include "measure/probe/clock_probe.hpp"

namespace halmark {
namespace {

// Every second reading is later by the next step; the last step repeats.
class Scripted : public ClockSource {
 public:
  explicit Scripted(std::vector<double> steps_ns) : steps_(std::move(steps_ns)) {}
  double wall_ns() override {
    if (readings_++ % 2 == 1) {
      now_ += steps_[std::min(at_, steps_.size() - 1)];
      ++at_;
    }
    return now_;
  }
  double cpu_ns() override { return now_; }
  std::size_t intervals() const { return at_; }

 private:
  std::vector<double> steps_;
  std::size_t at_ = 0, readings_ = 0;
  double now_ = 5e9;
};

struct alignas(64) Line {
  std::byte bytes[64];
};

class Memory {
 public:
  explicit Memory(std::size_t bytes) : lines_(bytes / 64 + 2) {
    std::uint32_t state = 1;
    for (Line& line : lines_) {
      for (std::byte& b : line.bytes)
        b = static_cast<std::byte>((state = state * 1664525 + 9) >> 24);
    }
  }
  std::span<std::byte> at(std::size_t offset, std::size_t bytes) {
    return {lines_.front().bytes + offset, bytes};
  }
  std::vector<std::byte> whole() { return {data(), data() + lines_.size() * 64}; }

 private:
  std::byte* data() { return lines_.front().bytes; }
  std::vector<Line> lines_;
};

// 0.2 ms for the first pass: ten fill 2 ms. Then each window takes its own step.
TEST(ProbeMemory, counts_the_bytes_of_as_many_passes_as_fill_a_window) {
  Memory memory(4096);
  Scripted clock({200'000, 2e6, 1e6, 4e6});
  const ProbeRates read = probe_memory(MemoryKernel::read, memory.at(0, 4096), {}, 3, 2, clock);
  ASSERT_EQ(read.rates.size(), 3u);
  EXPECT_DOUBLE_EQ(read.rates[0], 4096 * 10 / 2e6 * 1e9);
  EXPECT_DOUBLE_EQ(read.rates[1], 4096 * 10 / 1e6 * 1e9);
  EXPECT_DOUBLE_EQ(read.rates[2], 4096 * 10 / 4e6 * 1e9);
  EXPECT_EQ(read.reason, "");
}

// Runs are made four times as long until one takes 0.1 ms.
TEST(ProbeMemory, calibrates_on_the_first_run_that_is_long_enough) {
  for (const auto& [steps, passes] :
       {std::pair(std::vector{99'000.0, 100'000.0, 1e6}, 40.0),
        std::pair(std::vector{100'000.0, 1e6}, 10.0),
        std::pair(std::vector{30'000.0, 60'000.0, 90'000.0, 160'000.0, 1e6}, 400.0),
        std::pair(std::vector{5e9, 1e6}, 1.0)}) {
    Memory memory(512);
    Scripted clock(steps);
    const ProbeRates read = probe_memory(MemoryKernel::read, memory.at(0, 512), {}, 1, 1, clock);
    ASSERT_EQ(read.rates.size(), 1u);
    EXPECT_DOUBLE_EQ(read.rates[0], 512 * passes / 1e6 * 1e9) << passes;
    EXPECT_EQ(clock.intervals(), steps.size());
  }
}

TEST(ProbeMemory, a_window_without_time_has_no_rate) {
  Memory memory(512);
  Scripted clock({1e6, 0, 1e6, 0});
  EXPECT_EQ(probe_memory(MemoryKernel::read, memory.at(0, 512), {}, 3, 1, clock).rates.size(), 1u);
}

// Both kinds of stores are timed; the better is given, and both count what is read and written.
TEST(ProbeMemory, a_copy_counts_both_ways_and_takes_the_faster_stores) {
  for (const bool streaming_is_faster : {false, true}) {
    Memory memory(4096);
    const double plain = streaming_is_faster ? 2e6 : 1e6, streamed = 1.5e6;
    Scripted clock({200'000, plain, plain, 200'000, streamed, streamed});
    const ProbeRates copy = probe_memory(MemoryKernel::copy, memory.at(0, 4096), {}, 2, 1, clock);
    ASSERT_EQ(copy.rates.size(), 2u);
    const double best = streaming_is_faster ? streamed : plain;
    EXPECT_DOUBLE_EQ(copy.rates[0], 2 * 2048 * 5 / best * 1e9);
  }
}

// From the first cache line on, in whole strides of 512 bytes, the first half of each thread's part
// into its second; nothing else is written.
TEST(ProbeMemory, a_copy_touches_its_parts_and_nothing_beside_them) {
  for (const std::size_t offset : {0u, 1u, 40u, 63u}) {
    for (const std::size_t bytes : {1024u, 1535u, 2048u, 5000u, 9216u}) {
      for (const int threads : {1, 2}) {
        Memory memory(16384);
        const std::vector<std::byte> before = memory.whole();
        SystemClock clock;
        const ProbeRates copy = probe_memory(MemoryKernel::copy, memory.at(offset, bytes),
                                             {threads, {}}, 1, 0.01, clock);
        const std::size_t skipped = (64 - offset) % 64;
        const std::size_t share = (bytes - skipped) / static_cast<std::size_t>(threads) / 512 * 512;
        const std::size_t half = share / 2 / 512 * 512;
        std::vector<std::byte> expected = before;
        for (int t = 0; t < threads; ++t) {
          const auto from = static_cast<std::ptrdiff_t>(offset + skipped) +
                            t * static_cast<std::ptrdiff_t>(share);
          const auto n = static_cast<std::ptrdiff_t>(half);
          std::copy(before.begin() + from, before.begin() + from + n, expected.begin() + from + n);
        }
        EXPECT_EQ(memory.whole(), expected) << offset << ' ' << bytes << ' ' << threads;
        EXPECT_EQ(copy.rates.empty(), half == 0);
        EXPECT_EQ(copy.reason.empty(), half > 0);
      }
    }
  }
}

TEST(ProbeMemory, too_little_memory_threads_or_windows_give_a_reason) {
  Memory memory(4096);
  const auto reason = [&](MemoryKernel kernel, std::size_t offset, std::size_t bytes, int threads,
                          int windows) {
    Scripted clock({1e6});
    const ProbeRates out =
        probe_memory(kernel, memory.at(offset, bytes), {threads, {}}, windows, 1, clock);
    EXPECT_EQ(out.rates.empty(), !out.reason.empty());
    return out.reason;
  };
  const std::string small = "the working set is too small for these threads";
  EXPECT_EQ(reason(MemoryKernel::read, 0, 511, 1, 1), small);
  EXPECT_EQ(reason(MemoryKernel::read, 0, 512, 1, 1), "");
  EXPECT_EQ(reason(MemoryKernel::copy, 0, 1023, 1, 1), small);
  EXPECT_EQ(reason(MemoryKernel::copy, 0, 1024, 1, 1), "");
  EXPECT_EQ(reason(MemoryKernel::read, 0, 1023, 2, 1), small);
  EXPECT_EQ(reason(MemoryKernel::read, 1, 63, 1, 1), small) << "no cache line begins in it";
  EXPECT_EQ(reason(MemoryKernel::read, 1, 512 + 63, 1, 1), "");
  EXPECT_EQ(reason(MemoryKernel::read, 1, 512 + 62, 1, 1), small);
  EXPECT_EQ(reason(MemoryKernel::read, 0, 512, 0, 1), "a probe needs a thread and a window");
  EXPECT_EQ(reason(MemoryKernel::read, 0, 512, 1, 0), "a probe needs a thread and a window");
}

// Two threads: a window begins with the first and ends with the last, so all of it is no more than
// twice what one of them alone would have.
TEST(ProbeMemory, threads_share_a_window) {
  Memory memory(1 << 20);
  SystemClock clock;
  const std::vector<int> cpus = allowed_cpus();
  ASSERT_FALSE(cpus.empty());
  const ProbeRates read =
      probe_memory(MemoryKernel::read, memory.at(0, 1 << 20), {2, cpus}, 4, 1, clock);
  EXPECT_EQ(read.rates.size(), 4u);
  for (const double rate : read.rates) EXPECT_GT(rate, 1e6);
}

// The caller calibrates first: 0.2 ms a pass. Of the two others one begins half a millisecond late
// and ends one late.
class Staggered : public ClockSource {
 public:
  double wall_ns() override {
    const std::lock_guard lock(mutex_);
    const auto [it, is_new] = seen_.try_emplace(std::this_thread::get_id(), State{seen_.size(), 0});
    State& state = it->second;
    const bool is_end = state.calls++ % 2 == 1;
    if (state.index == 0) return is_end ? 200'000 : 0;
    if (state.index == 1) return is_end ? 1e6 : 0;
    return is_end ? 2e6 : 0.5e6;
  }
  double cpu_ns() override { return 0; }

 private:
  struct State {
    std::size_t index;
    int calls;
  };
  std::mutex mutex_;
  std::map<std::thread::id, State> seen_;
};

TEST(ProbeMemory, a_window_of_several_threads_begins_with_the_first_and_ends_with_the_last) {
  Memory memory(8192);
  Staggered clock;
  const ProbeRates read =
      probe_memory(MemoryKernel::read, memory.at(0, 8192), {2, {}}, 3, 2, clock);
  ASSERT_EQ(read.rates.size(), 3u);
  for (const double rate : read.rates) EXPECT_DOUBLE_EQ(rate, 8192 * 10 / 2e6 * 1e9);
  Staggered again;
  const PeakPath path = peak_paths().front();
  const ProbeRates peak = probe_peak(path.path, path.isa, {2, {}}, 2, 1, again);
  ASSERT_EQ(peak.rates.size(), 2u);
  EXPECT_DOUBLE_EQ(peak.rates[0], 2 * path.flops_per_iteration * 5 / 2e6 * 1e9);
}

TEST(ReadSlices, give_a_rate_for_every_whole_slice) {
  Memory memory(8192);
  Scripted clock({1e6, 2e6, 4e6});
  const auto rates = read_slices(memory.at(0, 3 * 2048 + 100), 2048, {}, clock).rates;
  ASSERT_EQ(rates.size(), 3u);
  EXPECT_DOUBLE_EQ(rates[0], 2048 / 1e6 * 1e9);
  EXPECT_DOUBLE_EQ(rates[1], 2048 / 2e6 * 1e9);
  EXPECT_DOUBLE_EQ(rates[2], 2048 / 4e6 * 1e9);
  EXPECT_TRUE(read_slices(memory.at(0, 2047), 2048, {}, clock).rates.empty());
  EXPECT_TRUE(read_slices(memory.at(0, 4096), 1024, {4, {}}, clock).rates.empty());
}

// The rate tells which path ran: each counts its own operations per turn.
TEST(ProbePeak, takes_the_path_that_is_named_and_else_the_last_of_its_name) {
  const std::vector<PeakPath> paths = peak_paths();
  ASSERT_FALSE(paths.empty());
  for (const PeakPath& p : paths) {
    if (p.isa == "avx512_core_amx") continue;
    Scripted clock({500'000, 2e6, 1e6});
    const ProbeRates out = probe_peak(p.path, p.isa, {}, 2, 2, clock);
    ASSERT_EQ(out.rates.size(), 2u) << p.path << p.isa;
    EXPECT_DOUBLE_EQ(out.rates[0], p.flops_per_iteration * 4 / 2e6 * 1e9);
    EXPECT_DOUBLE_EQ(out.rates[1], p.flops_per_iteration * 4 / 1e6 * 1e9);
    const auto last = std::find_if(paths.rbegin(), paths.rend(),
                                   [&](const PeakPath& other) { return other.path == p.path; });
    Scripted again({500'000, 2e6});
    const ProbeRates fastest = probe_peak(p.path, "", {}, 1, 2, again);
    EXPECT_DOUBLE_EQ(fastest.rates.at(0), last->flops_per_iteration * 4 / 2e6 * 1e9);
  }
}

TEST(ProbePeak, what_there_is_not_gives_a_reason) {
  Scripted clock({1e6});
  EXPECT_EQ(probe_peak("f32_vector", "none", {}, 1, 1, clock).reason,
            "this CPU has no path f32_vector on none");
  const PeakPath first = peak_paths().front();
  EXPECT_EQ(probe_peak(first.path, first.isa, {0, {}}, 1, 1, clock).reason,
            "a probe needs a thread and a window");
  EXPECT_EQ(probe_peak(first.path, first.isa, {}, 0, 1, clock).reason,
            "a probe needs a thread and a window");
}

// Two windows of as many turns as fill 0.4 ms, of which the better counts; one turn takes 0.5 ms.
TEST(ShortPeakProbe, is_the_better_of_two_windows_of_the_fastest_path) {
  for (const auto& [first, second] : {std::pair(1e6, 2e6), std::pair(2e6, 1e6)}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      Scripted clock({500'000, first, second});
      ShortPeakProbe probe(dtype, clock);
      double flops = 0;
      for (const PeakPath& p : peak_paths()) {
        if (p.dtype == dtype) flops = p.flops_per_iteration;
      }
      EXPECT_DOUBLE_EQ(probe.flops_per_s(), flops / 1e6 * 1e9);
    }
  }
  Scripted clock({1e6});
  EXPECT_EQ(ShortPeakProbe(Dtype::f8_e5m2, clock).flops_per_s(), 0) << "nothing computes in it";
}

// 100,000 multiplies of three cycles each; the median of the windows.
TEST(ClockProbe, is_the_median_of_its_windows) {
  Scripted clock({100'000, 300'000, 150'000});
  EXPECT_DOUBLE_EQ(probe_clock_hz(clock, 3), 3 * 100'000 / 150'000.0 * 1e9);
  Scripted stuck({0, 0, 100'000});
  EXPECT_DOUBLE_EQ(probe_clock_hz(stuck, 3), 3e9) << "windows without time do not count";
  Scripted dead({0});
  EXPECT_EQ(probe_clock_hz(dead, 3), 0);
}

TEST(AllowedCpus, are_ascending_and_not_more_than_there_are) {
  const std::vector<int> cpus = allowed_cpus();
  EXPECT_TRUE(std::ranges::is_sorted(cpus));
  EXPECT_FALSE(cpus.empty());
  EXPECT_EQ(std::ranges::adjacent_find(cpus), cpus.end());
}

}  // namespace
}  // namespace halmark
