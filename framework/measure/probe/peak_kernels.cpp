#include "measure/probe/peak_kernels.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <optional>
#include <thread>

#include "core/lists.hpp"
#include "core/text/units.hpp"
#include "measure/probe/cpu_features.hpp"
#include "measure/probe/peak_paths.hpp"

namespace halmark {
namespace {

void pin_this_thread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

struct WindowTime {
  double begin_ns = 0, end_ns = 0;
  double cpu_ns = 0;  // of the thread
};

// work(thread, window) runs on every thread at once; windows start together. times[thread][window].
using Work = std::function<void(int thread, int window)>;

std::vector<std::vector<WindowTime>> run_together(const ProbeThreads& placed, int windows,
                                                  const Work& work, ClockSource& clock) {
  const int threads = placed.count;
  std::vector<std::vector<WindowTime>> times(as_size(threads),
                                             std::vector<WindowTime>(as_size(windows)));
  const std::vector<int>& cpus = placed.cpus;
  std::atomic<int> arrived{0};
  const auto body = [&](int thread) {
    if (threads > 1 && !cpus.empty()) {
      pin_this_thread(cpus[as_size(thread) % cpus.size()]);
    }
    for (const int window : below(windows)) {
      // Yielding lets more threads than CPUs finish; with one CPU each it costs nothing.
      arrived.fetch_add(1);
      while (arrived.load() < threads * (window + 1)) std::this_thread::yield();
      WindowTime& time = times[as_size(thread)][as_size(window)];
      time.begin_ns = clock.wall_ns();
      const double cpu_begin_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
      work(thread, window);
      time.cpu_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin_ns;
      time.end_ns = clock.wall_ns();
    }
  };
  if (threads == 1) {
    body(0);
    return times;
  }
  std::vector<std::jthread> others;
  for (const int thread : below(threads)) others.emplace_back(body, thread);
  others.clear();
  return times;
}

std::vector<double> rates_of(const std::vector<std::vector<WindowTime>>& times, double amount) {
  std::vector<double> rates;
  for (const auto window : indices(times.front())) {
    WindowTime whole = times.front()[window];
    for (const auto& thread : times) {
      whole.begin_ns = std::min(whole.begin_ns, thread[window].begin_ns);
      whole.end_ns = std::max(whole.end_ns, thread[window].end_ns);
    }
    const double elapsed_ns = whole.end_ns - whole.begin_ns;
    if (elapsed_ns > 0) rates.push_back(amount / elapsed_ns * ns_per_s);
  }
  return rates;
}

double cpu_share_of(const std::vector<std::vector<WindowTime>>& times) {
  double cpu_ns = 0, wall_ns = 0;
  for (const auto& thread : times) {
    for (const WindowTime& window : thread) {
      cpu_ns += window.cpu_ns;
      wall_ns += window.end_ns - window.begin_ns;
    }
  }
  return wall_ns > 0 ? std::min(1.0, cpu_ns / wall_ns) : 1;
}

ProbeRates probed(const std::vector<std::vector<WindowTime>>& times, double amount) {
  return {.rates = rates_of(times, amount), .cpu_share = cpu_share_of(times)};
}

// Turns that fill `window_ns`, from runs that double until they are long enough to time.
std::int64_t calibrate(const std::function<void(std::int64_t)>& run, double window_ns,
                       ClockSource& clock) {
  constexpr double enough_ns = 100'000;
  constexpr std::int64_t most = std::int64_t{1} << 40;
  for (std::int64_t turns = 1;; turns *= 4) {
    const double begin_ns = clock.wall_ns();
    run(turns);
    const double elapsed_ns = clock.wall_ns() - begin_ns;
    if (elapsed_ns < enough_ns && turns < most) continue;
    const double wanted = as_double(turns) * window_ns / std::max(1.0, elapsed_ns);
    return std::max<std::int64_t>(1, std::llround(wanted));
  }
}

bool is_allowed(const PeakPath& path) {
  return path.isa != "avx512_core_amx" || request_amx_permission();
}

// The first path of the table that matches; an empty isa takes the last one, the fastest.
std::optional<PeakPath> find_path(std::string_view path, std::string_view isa) {
  std::optional<PeakPath> found;
  for (const PeakPath& candidate : peak_paths()) {
    if (candidate.path == path && (isa.empty() || candidate.isa == isa)) found = candidate;
  }
  return found;
}

struct Slice {
  std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t bytes = 0;
};

// Even parts of the memory, whole strides of 512 bytes from a cache line on, because streaming
// stores fault elsewhere; for copies each part is halved.
std::vector<Slice> cut_memory(MemoryKernel kernel, std::span<std::byte> memory, int threads) {
  constexpr std::size_t stride = 512;
  constexpr std::size_t line = 64;
  const std::size_t skipped =
      (line - reinterpret_cast<std::uintptr_t>(memory.data()) % line) % line;
  if (memory.size() <= skipped) return {{}};
  memory = memory.subspan(skipped);
  const std::size_t share = memory.size() / as_size(threads) / stride * stride;
  const std::size_t bytes = kernel == MemoryKernel::copy ? share / 2 / stride * stride : share;
  std::vector<Slice> slices;
  for (const int thread : below(threads)) {
    std::byte* from = memory.data() + as_size(thread) * share;
    slices.push_back({from, kernel == MemoryKernel::copy ? from + bytes : nullptr, bytes});
  }
  return slices;
}

void pass_over(MemoryPass pass, const Slice& slice, std::int64_t times) {
  for (std::int64_t i = 0; i < times; ++i) pass(slice.from, slice.to, slice.bytes);
}

ProbeRates memory_rates(MemoryPass pass, const std::vector<Slice>& slices,
                        const ProbeThreads& threads, double bytes_per_pass, int windows,
                        double window_ms, ClockSource& clock) {
  const std::int64_t passes = calibrate(
      [&](std::int64_t times) { pass_over(pass, slices.front(), times); }, window_ms * 1e6, clock);
  const auto times = run_together(
      threads, windows, [&](int thread, int) { pass_over(pass, slices[as_size(thread)], passes); },
      clock);
  return probed(times, bytes_per_pass * as_double(passes));
}

}  // namespace

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (const int cpu : below(CPU_SETSIZE)) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<PeakPath> peak_paths() {
  std::vector<PeakPath> paths;
  const CpuFeatures has = detect_cpu_features();
  append_x86_vector_paths(has, paths);
  append_x86_matrix_paths(has, paths);
  append_arm_vector_paths(detect_arm_features(), paths);
  if (paths.empty()) append_portable_paths(paths);
  return paths;
}

ProbeRates probe_peak(std::string_view path, std::string_view isa, const ProbeThreads& threads,
                      int windows, double window_ms, ClockSource& clock) {
  const auto found = find_path(path, isa);
  if (!found) {
    return {{}, "this CPU has no path " + std::string(path) + " on " + std::string(isa)};
  }
  if (threads.count < 1 || windows < 1) return {{}, "a probe needs a thread and a window"};
  if (!is_allowed(*found)) return {{}, "AMX not permitted by the kernel"};
  const std::int64_t turns = calibrate(found->run, window_ms * 1e6, clock);
  const auto times = run_together(
      threads, windows, [&](int, int) { found->run(turns); }, clock);
  return probed(times, found->flops_per_iteration * as_double(turns) * threads.count);
}

ProbeRates probe_memory(MemoryKernel kernel, std::span<std::byte> memory,
                        const ProbeThreads& threads, int windows, double window_ms,
                        ClockSource& clock) {
  if (threads.count < 1 || windows < 1) return {{}, "a probe needs a thread and a window"};
  const std::vector<Slice> slices = cut_memory(kernel, memory, threads.count);
  if (slices.front().bytes == 0) return {{}, "the working set is too small for these threads"};
  const MemoryPasses passes = memory_passes(detect_cpu_features());
  const double per_pass = as_double(slices.front().bytes) * threads.count;
  if (kernel == MemoryKernel::read) {
    return memory_rates(passes.read, slices, threads, per_pass, windows, window_ms, clock);
  }
  const double moved = 2 * per_pass;
  const ProbeRates plain =
      memory_rates(passes.copy, slices, threads, moved, windows, window_ms, clock);
  if (passes.copy_streaming == passes.copy) return plain;
  const ProbeRates streamed =
      memory_rates(passes.copy_streaming, slices, threads, moved, windows, window_ms, clock);
  const bool streaming_wins = !streamed.rates.empty() && !plain.rates.empty() &&
                              std::ranges::max(streamed.rates) > std::ranges::max(plain.rates);
  return streaming_wins ? streamed : plain;
}

ProbeRates read_slices(std::span<std::byte> memory, std::size_t slice_bytes,
                       const ProbeThreads& threads, ClockSource& clock) {
  const std::size_t count = memory.size() / slice_bytes;
  std::vector<std::vector<Slice>> cut;
  for (const auto i : indices(count)) {
    const auto slice = memory.subspan(i * slice_bytes, slice_bytes);
    cut.push_back(cut_memory(MemoryKernel::read, slice, threads.count));
  }
  if (cut.empty() || cut.front().front().bytes == 0) return {};
  const MemoryPass pass = memory_passes(detect_cpu_features()).read;
  const auto times = run_together(
      threads, as_int(count),
      [&](int thread, int window) { pass_over(pass, cut[as_size(window)][as_size(thread)], 1); },
      clock);
  return probed(times, as_double(cut.front().front().bytes) * threads.count);
}

ShortPeakProbe::ShortPeakProbe(Dtype dtype, ClockSource& clock) : clock_(clock) {
  for (const PeakPath& path : peak_paths()) {
    if (path.dtype == dtype && is_allowed(path)) path_ = path;
  }
  // The shorter, the rarer another process comes between.
  constexpr double window_ns = 0.4e6;
  if (path_.run) iterations_ = calibrate(path_.run, window_ns, clock_);
}

double ShortPeakProbe::flops_per_s() {
  if (!path_.run) return 0;
  // The first 0.8 ms are not counted: the clock is still moving to what wide vector units allow.
  path_.run(2 * iterations_);
  const auto times = run_together(
      {}, 2, [&](int, int) { path_.run(iterations_); }, clock_);
  const std::vector<double> rates =
      rates_of(times, path_.flops_per_iteration * as_double(iterations_));
  return rates.empty() ? 0 : std::ranges::max(rates);
}

}  // namespace halmark
