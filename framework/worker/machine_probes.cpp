// Probes run in the worker because its affinity is the shard's: the same loop in the parent would
// measure other cores. Threads and windows are clamped, since a request is only bytes from a pipe.
#include "worker/machine_probes.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/text.hpp"
#include "core/text/units.hpp"
#include "measure/probe/clock_probe.hpp"
#include "measure/sampling/gbench.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

std::string describe_process(const std::vector<int>& cpus) {
  std::string text = "affinity=" + ranges_text(cpus);
  for (const char* name :
       {"OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "OMP_PROC_BIND"}) {
    const char* value = std::getenv(name);
    text += std::string(" ") + name + "=" + (value ? value : "unset");
  }
  return text + " engine=" + gbench_description();
}

protocol::ProbeAnswer list_paths() {
  protocol::ProbeAnswer answer;
  for (const PeakPath& path : peak_paths()) {
    answer.paths.push_back({std::string(path.path), std::string(path.isa), path.dtype});
  }
  return answer;
}

constexpr std::int64_t working_set_max = std::int64_t{64} << 30;

int windows_of(const protocol::ProbeRequest& request) {
  return std::clamp(request.windows, 1, 100'000);
}

ProbeThreads threads_of(const protocol::ProbeRequest& request, const std::vector<int>& cpus) {
  return {std::clamp(request.threads, 1, 4096), cpus};
}

protocol::ProbeAnswer to_answer(ProbeRates rates) {
  return {.paths = {},
          .rates = std::move(rates.rates),
          .reason = std::move(rates.reason),
          .cpu_share = rates.cpu_share};
}

protocol::ProbeAnswer lost_the_others() {
  return {.paths = {}, .rates = {}, .reason = "another shard did not probe"};
}

}  // namespace

MachineReading MachineProbes::read_state(Dtype dtype) {
  constexpr int readings = 5;
  std::vector<double> clocks, peaks;
  for (int i = 0; i < readings; ++i) {
    const MachineReading reading = read(dtype);
    if (reading.clock_hz) clocks.push_back(*reading.clock_hz);
    if (reading.peak_flops) peaks.push_back(*reading.peak_flops);
  }
  MachineReading out;
  if (!clocks.empty()) out.clock_hz = median(clocks);
  if (!peaks.empty()) out.peak_flops = median(peaks);
  return out;
}

MachineReading MachineProbes::read(Dtype dtype) {
  // A core that ran wide vectors keeps a lower clock for about 0.7 ms. Scalar work for longer than
  // that first, so that both probes of a trial see the same state whatever the kernel executed.
  probe_clock_hz(clock_, 10);
  ShortPeakProbe& peak = peaks_.try_emplace(dtype, dtype, clock_).first->second;
  return {.clock_hz = best_of_undisturbed([&] { return probe_clock_hz(clock_, 5); }),
          .peak_flops = best_of_undisturbed([&] { return peak.flops_per_s(); })};
}

// A probe that lost its CPU says nothing about the machine's clock: it is taken again, and the best
// of those that were disturbed is the nearest to the truth.
std::optional<double> MachineProbes::best_of_undisturbed(const std::function<double()>& probe) {
  constexpr int tries = 4;
  double best = 0;
  for (int i = 0; i < tries; ++i) {
    const CounterReading before = interference_.counters().read();
    best = std::max(best, probe());
    const CounterReading counted = growth(before, interference_.counters().read());
    if (disturbed_share(counted, {}) <= ChunkRule{}.disturbed_share) break;
  }
  return best > 0 ? std::optional(best) : std::nullopt;
}

ChunkRule MachineProbes::chunk_rule(double disturbed_share, bool counts_lost_cpu) const {
  return affordable({.disturbed_share = disturbed_share,
                     .counts_lost_cpu = counts_lost_cpu,
                     .is_on_one_cpu = cpus_.size() == 1},
                    interference_.counters().read_cost_ns());
}

void MachineProbes::remember_placement() {
  cpus_ = allowed_cpus();
  interference_.set_cpus(cpus_.size());
  environment_ = describe_process(cpus_);
}

protocol::ProbeAnswer MachineProbes::probe_working_set(const protocol::ProbeRequest& request,
                                                       HostMemory& memory, const Start& start) {
  if (request.working_set_bytes < 1 || request.working_set_bytes > working_set_max) {
    throw RequestFailed(HM_INVALID_ARGUMENT, "probe",
                        "working set of " + std::to_string(request.working_set_bytes) + " bytes");
  }
  const auto bytes = as_uint64(request.working_set_bytes);
  HostBlock block = memory.allocate_in_arena(bytes);
  if (!block) block = HostMemory::map_own(bytes);
  // Pages that were never written all map one page of zeros, which fits every cache.
  std::memset(block.data(), 1, bytes);
  const MemoryKernel kernel =
      request.kind == protocol::ProbeKind::copy ? MemoryKernel::copy : MemoryKernel::read;
  if (!start()) return lost_the_others();
  return to_answer(probe_memory(kernel, {block.data(), bytes}, threads_of(request, cpus_),
                                windows_of(request), request.window_ms, clock_));
}

// A thread that waits for its turn has used no CPU time and is about to.
bool has_runnable_thread() {
  std::error_code none;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
    if (task.path().filename() == std::to_string(gettid())) continue;
    std::ifstream file(task.path() / "stat");
    std::string text;
    std::getline(file, text);
    // The state is behind the name, which is in parentheses and may contain any character.
    const std::size_t name_end = text.rfind(')');
    if (name_end != std::string::npos && text.substr(name_end, 3) == ") R") return true;
  }
  return false;
}

// A library's threads spin for a while after their last call; they would share the memory.
bool others_sleep() {
  constexpr auto gap = std::chrono::microseconds(500);
  constexpr int tries = 8;
  constexpr double busy_share = 0.05;
  const auto cpu_ns = [](clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return as_double(time.tv_sec) * ns_per_s + as_double(time.tv_nsec);
  };
  // Going to sleep and waking costs this thread up to a tenth of the gap on a guest.
  const auto others_ns = [&cpu_ns] {
    return cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns(CLOCK_THREAD_CPUTIME_ID);
  };
  for (int i = 0; i < tries; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const double begin_ns = others_ns();
    std::this_thread::sleep_for(gap);
    const double used_ns = others_ns() - begin_ns;
    const std::chrono::duration<double, std::nano> passed =
        std::chrono::steady_clock::now() - begin;
    if (used_ns <= busy_share * passed.count() && !has_runnable_thread()) return true;
  }
  return false;
}

protocol::ProbeAnswer MachineProbes::probe_slices(const protocol::ProbeRequest& request,
                                                  HostMemory& memory, const Start& start) {
  constexpr std::uint64_t slice_bytes = 16 << 20;
  constexpr int slices_max = 64;
  const auto count = as_uint64(std::clamp(request.windows, 1, slices_max));
  const auto walk_bytes =
      as_uint64(std::clamp<std::int64_t>(request.working_set_bytes, slice_bytes, working_set_max));
  const std::uint64_t in_arena =
      memory.has_arena() ? as_uint64(memory.arena().bytes()) / slice_bytes : 0;
  const std::uint64_t wanted = walk_bytes / slice_bytes;
  const std::uint64_t beside = wanted > in_arena ? wanted - in_arena : 0;
  if (beside_arena_.bytes() < beside * slice_bytes) {
    beside_arena_ = HostMemory::map_own(beside * slice_bytes);
    // Pages that were never written all map one page of zeros, which fits every cache.
    std::memset(beside_arena_.data(), 1, beside * slice_bytes);
  }
  const bool is_quiet = others_sleep();
  if (!start()) return lost_the_others();
  if (!is_quiet) {
    return {.paths = {}, .rates = {}, .reason = "no probe: threads of the plugin were busy"};
  }
  protocol::ProbeAnswer answer;
  double share = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t slice = walk_at_++ % (in_arena + beside);
    std::byte* data = slice < in_arena ? memory.arena().data() + slice * slice_bytes
                                       : beside_arena_.data() + (slice - in_arena) * slice_bytes;
    const ProbeRates read =
        read_slices({data, slice_bytes}, slice_bytes, threads_of(request, cpus_), clock_);
    append_all(answer.rates, read.rates);
    share += read.cpu_share / as_double(count);
  }
  answer.cpu_share = share;
  return answer;
}

protocol::ProbeAnswer MachineProbes::probe(const protocol::ProbeRequest& request,
                                           HostMemory& memory, const Start& start) {
  switch (request.kind) {
    case protocol::ProbeKind::peak_paths:
      return list_paths();
    case protocol::ProbeKind::clock: {
      protocol::ProbeAnswer answer;
      for (int i = 0; i < windows_of(request); ++i) {
        answer.rates.push_back(probe_clock_hz(clock_, 1));
      }
      return answer;
    }
    case protocol::ProbeKind::peak:
      if (!start()) return lost_the_others();
      return to_answer(probe_peak(request.path, request.isa, threads_of(request, cpus_),
                                  windows_of(request), request.window_ms, clock_));
    case protocol::ProbeKind::copy:
    case protocol::ProbeKind::read:
      return probe_working_set(request, memory, start);
    case protocol::ProbeKind::slices:
      return probe_slices(request, memory, start);
  }
  return {};
}

}  // namespace halmark::worker
