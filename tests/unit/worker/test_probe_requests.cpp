// What the long probes take of a request, which memory they touch, and how often the short ones
// look; under a clock that passes a written time between two readings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "host/partition.hpp"
#include "table_device.hpp"
#include "tests/scoped_environment.hpp"
#include "worker/machine_probes.hpp"

namespace halmark::worker {
namespace {

using protocol::ProbeKind;
using protocol::ProbeRequest;
using testing::HasSubstr;
using testing::SizeIs;

constexpr double reading_ns = 200'000;
constexpr std::int64_t mib = 1 << 20;

class CountingClock : public ClockSource {
 public:
  double wall_ns() override {
    ++readings;
    if (naps) {
      const timespec nap{0, 200'000};
      ::nanosleep(&nap, nullptr);
    }
    return now_ += reading_ns;
  }
  double cpu_ns() override { return now_; }
  int readings = 0;
  bool naps = false;

 private:
  double now_ = 1e9;
};

struct Probed {
  CountingClock clock;
  MachineProbes probes{clock};
  HostMemory memory;
  int starts = 0;
  bool others_are_there = true;
  explicit Probed(std::int64_t arena_bytes = 0)
      : memory(arena_bytes > 0 ? SharedMemory::create("arena", arena_bytes, false)
                               : SharedMemory()) {
    probes.remember_placement();
  }
  protocol::ProbeAnswer probe(const ProbeRequest& request) {
    return probes.probe(request, memory, [this] {
      ++starts;
      return others_are_there;
    });
  }
  protocol::ProbeAnswer probe(ProbeKind kind, int windows, std::int64_t bytes) {
    return probe({.kind = kind, .windows = windows, .window_ms = 1, .working_set_bytes = bytes});
  }
  // A disturbed one has no rates.
  protocol::ProbeAnswer slices(int windows, std::int64_t bytes) {
    protocol::ProbeAnswer answer;
    for (int attempt = 0; attempt < 20 && answer.rates.empty(); ++attempt) {
      answer = probe(ProbeKind::slices, windows, bytes);
    }
    return answer;
  }
};

TEST(ProbeRequests, have_one_window_and_one_thread_at_least) {
  Probed p;
  for (const int windows : {-3, 0, 1, 4}) {
    const auto clock = p.probe({.kind = ProbeKind::clock, .windows = windows});
    EXPECT_THAT(clock.rates, SizeIs(static_cast<std::size_t>(std::max(1, windows))));
    for (const double hz : clock.rates) EXPECT_DOUBLE_EQ(hz, 3 * 100'000 / reading_ns * 1e9);
  }
  const auto listed = p.probe({.kind = ProbeKind::peak_paths});
  ASSERT_FALSE(listed.paths.empty());
  const auto peaks = peak_paths();
  ASSERT_EQ(listed.paths.size(), peaks.size());
  EXPECT_EQ(listed.paths[0].path, peaks[0].path);
  EXPECT_EQ(listed.paths[0].isa, peaks[0].isa);
  EXPECT_EQ(listed.paths[0].dtype, peaks[0].dtype);
  const auto peak = p.probe({.kind = ProbeKind::peak,
                             .path = listed.paths[0].path,
                             .isa = listed.paths[0].isa,
                             .threads = 0,
                             .windows = 2,
                             .window_ms = 1});
  EXPECT_THAT(peak.rates, SizeIs(2)) << peak.reason;
  EXPECT_EQ(p.starts, 1) << "listing and clocks need nobody";
}

TEST(ProbeRequests, without_the_others_are_not_answered) {
  Probed p;
  p.others_are_there = false;
  for (const ProbeKind kind :
       {ProbeKind::peak, ProbeKind::copy, ProbeKind::read, ProbeKind::slices}) {
    const auto answer = p.probe(kind, 1, mib);
    EXPECT_EQ(answer.reason, "another shard did not probe");
    EXPECT_TRUE(answer.rates.empty());
  }
  EXPECT_EQ(p.starts, 4);
}

// 200 us a pass: five fill the window of 1 ms. A copy counts its half twice.
TEST(ProbeRequests, count_what_is_read_or_copied_of_the_working_set) {
  Probed p;
  for (const ProbeKind kind : {ProbeKind::copy, ProbeKind::read}) {
    const auto answer = p.probe(kind, 3, mib);
    ASSERT_THAT(answer.rates, SizeIs(3)) << answer.reason;
    EXPECT_DOUBLE_EQ(answer.rates[0], mib * 5 / reading_ns * 1e9);
  }
  EXPECT_EQ(p.probe({.kind = ProbeKind::read, .working_set_bytes = 1}).reason,
            "the working set is too small for these threads");
}

TEST(ProbeRequests, write_the_memory_that_they_read) {
  Probed p(2 * mib);
  p.probe(ProbeKind::read, 1, mib);
  const std::byte* arena = p.memory.arena().data();
  EXPECT_TRUE(std::all_of(arena, arena + mib, [](std::byte b) { return b == std::byte{1}; }));
  EXPECT_EQ(arena[mib], std::byte{0});
  EXPECT_EQ(p.memory.largest_free_bytes(), static_cast<std::uint64_t>(2 * mib)) << "given back";
  const auto beyond = p.probe(ProbeKind::read, 1, 3 * mib);
  EXPECT_THAT(beyond.rates, SizeIs(1)) << beyond.reason;
}

TEST(ProbeRequests, walk_through_slices_of_their_own_where_there_is_no_arena) {
  Probed p;
  const auto answer = p.slices(3, 32 * mib);
  ASSERT_THAT(answer.rates, SizeIs(3)) << answer.reason;
  for (const double rate : answer.rates) EXPECT_GT(rate, 0);
}

TEST(ProbeRequests, refuse_a_working_set_of_nothing_or_of_more_than_64_gibibytes) {
  Probed p;
  const std::int64_t most = std::int64_t{64} << 30;
  for (const std::int64_t bytes : {std::int64_t{-1}, std::int64_t{0}, most + 1}) {
    const auto failed = test::failure_of([&] { p.probe(ProbeKind::read, 1, bytes); });
    EXPECT_EQ(failed.message, "working set of " + std::to_string(bytes) + " bytes");
    EXPECT_EQ(failed.code, HM_INVALID_ARGUMENT);
  }
}

// Every slice of 16 MiB is one window of one reading.
TEST(ProbeSlices, are_as_many_as_were_asked_for_and_64_at_most) {
  Probed p(40 * mib);
  for (const auto& [asked, given] : {std::pair(-1, 1), std::pair(5, 5), std::pair(65, 64)}) {
    const auto answer = p.slices(asked, 48 * mib);
    ASSERT_THAT(answer.rates, SizeIs(static_cast<std::size_t>(given))) << answer.reason;
    for (const double rate : answer.rates) EXPECT_DOUBLE_EQ(rate, 16 * mib / reading_ns * 1e9);
  }
  EXPECT_EQ(p.memory.arena().data()[0], std::byte{0}) << "the arena is left as it is";
}

TEST(ProbeSlices, need_no_memory_beside_an_arena_that_is_large_enough) {
  Probed p(48 * mib);
  const auto answer = p.slices(4, 0);
  EXPECT_THAT(answer.rates, SizeIs(4)) << answer.reason;
}

// It gets a hundredth of the core of a process that spins there; this thread only sleeps.
TEST(ProbeSlices, do_not_begin_beside_a_thread_that_waits_for_its_turn) {
  Probed p;
  const int cpu = cut(1).front().cpus.back();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  const pid_t spinner = ::fork();
  if (spinner == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // should this case be ended first
    ::sched_setaffinity(0, sizeof one, &one);
    for (std::atomic<unsigned> turns{0};;) turns.fetch_add(1);
  }
  std::atomic<bool> over{false}, is_idle{false};
  std::jthread waiting([&] {
    const sched_param none{};
    ::sched_setscheduler(0, SCHED_IDLE, &none);
    ::sched_setaffinity(0, sizeof one, &one);
    is_idle = true;
    while (!over) {
    }
  });
  while (!is_idle) ::usleep(1000);
  ::usleep(50'000);
  const auto answer = p.probe(ProbeKind::slices, 1, 16 * mib);
  EXPECT_EQ(answer.reason, "no probe: threads of the plugin were busy");
  over = true;
  ::kill(spinner, SIGKILL);
  ::waitpid(spinner, nullptr, 0);
}

// Two readings a window: 10 windows to settle, 5 of the clock, 2 of the peak.
TEST(ShortProbes, look_as_often_as_it_takes_on_an_undisturbed_core) {
  Probed p;
  p.probes.read(Dtype::f32);  // fits the windows of the peak first
  const auto fewest = [&](const auto& look, int expected) {
    int least = 1 << 20;
    for (int attempt = 0; attempt < 200 && least > expected; ++attempt) {
      p.clock.readings = 0;
      look();
      least = std::min(least, p.clock.readings);
    }
    return least;
  };
  constexpr int once = 2 * (10 + 5 + 2);
  EXPECT_EQ(fewest([&] { p.probes.read(Dtype::f32); }, once), once);
  // On some guests an interrupt meets one of ten probes each time: three more of the peak.
  constexpr int taken_again = 2 * 2 * 3;
  const int of_state = fewest([&] { p.probes.read_state(Dtype::f32); }, 5 * once + 2 * taken_again);
  EXPECT_GE(of_state, 5 * once);
  EXPECT_LE(of_state, 5 * once + 2 * taken_again);
}

TEST(ShortProbes, are_taken_four_times_where_the_core_is_lost) {
  Probed p;
  p.probes.read(Dtype::f32);
  p.clock.naps = true;
  p.clock.readings = 0;
  const MachineReading lost = p.probes.read(Dtype::f32);
  EXPECT_EQ(p.clock.readings, 2 * (10 + 4 * (5 + 2)));
  EXPECT_DOUBLE_EQ(lost.clock_hz.value(), 3 * 100'000 / reading_ns * 1e9);
  p.clock.naps = false;
  const MachineReading state = p.probes.read_state(Dtype::f32);
  EXPECT_EQ(state.clock_hz, lost.clock_hz);
  EXPECT_EQ(state.peak_flops, lost.peak_flops);
  EXPECT_FALSE(p.probes.read_state(Dtype::s32).peak_flops);
}

TEST(ProbePlacement, names_the_cpus_and_what_threads_were_told) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  const CpuSet whole = cut(1).front();
  const halmark::test::ScopedVariable spin("GOMP_SPINCOUNT"), threads("OMP_NUM_THREADS", "3");
  Probed p;
  const std::string all = p.probes.environment();
  if (CPU_COUNT(&before) == whole.threads()) {
    EXPECT_THAT(all, testing::StartsWith("affinity=" + whole.text() + " OMP_NUM_THREADS=3 "));
  }
  EXPECT_THAT(all, HasSubstr(" GOMP_SPINCOUNT=unset "));
  EXPECT_THAT(all, HasSubstr(" engine=google benchmark"));
  {
    const halmark::test::ScopedAffinity alone(whole.cpus.back());
    p.probes.remember_placement();
  }
  EXPECT_THAT(p.probes.environment(),
              testing::StartsWith("affinity=" + std::to_string(whole.cpus.back()) + " "));
}

}  // namespace
}  // namespace halmark::worker
