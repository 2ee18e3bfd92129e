// Probes run in the worker because its affinity is the shard's: the same loop in the parent would
// measure other cores. Threads and windows are clamped, since a request is only bytes from a pipe.
#include "worker/machine_probes.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "measure/probe/clock_probe.hpp"
#include "measure/sampling/gbench.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

// "0-3,8": as the kernel's lists.
std::string list_text(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text += '-' + std::to_string(cpus[last]);
    i = last + 1;
  }
  return text;
}

std::string describe_process(const std::vector<int>& cpus) {
  std::string text = "affinity=" + list_text(cpus);
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
  return {.paths = {}, .rates = std::move(rates.rates), .reason = std::move(rates.reason)};
}

}  // namespace

MachineReading MachineProbes::read(Dtype dtype) {
  // A core that ran wide vectors keeps a lower clock for about 0.7 ms. Scalar work for longer than
  // that first, so that both probes of a trial see the same state whatever the kernel executed.
  probe_clock_hz(clock_, 15);
  MachineReading reading;
  const double hz = probe_clock_hz(clock_, 5);
  if (hz > 0) reading.clock_hz = hz;
  const double flops_per_s = peaks_.try_emplace(dtype, dtype, clock_).first->second.flops_per_s();
  if (flops_per_s > 0) reading.peak_flops = flops_per_s;
  return reading;
}

void MachineProbes::remember_placement() {
  cpus_ = allowed_cpus();
  environment_ = describe_process(cpus_);
}

protocol::ProbeAnswer MachineProbes::probe_working_set(const protocol::ProbeRequest& request,
                                                       HostMemory& memory) {
  if (request.working_set_bytes < 1 || request.working_set_bytes > working_set_max) {
    throw RequestFailed(HM_INVALID_ARGUMENT, "probe",
                        "working set of " + std::to_string(request.working_set_bytes) + " bytes");
  }
  const auto bytes = static_cast<std::uint64_t>(request.working_set_bytes);
  HostBlock block = memory.allocate_in_arena(bytes);
  if (!block) block = HostMemory::map_own(bytes);
  // Pages that were never written all map one page of zeros, which fits every cache.
  std::memset(block.data(), 1, bytes);
  const MemoryKernel kernel =
      request.kind == protocol::ProbeKind::copy ? MemoryKernel::copy : MemoryKernel::read;
  return to_answer(probe_memory(kernel, {block.data(), bytes}, threads_of(request, cpus_),
                                windows_of(request), request.window_ms, clock_));
}

protocol::ProbeAnswer MachineProbes::probe(const protocol::ProbeRequest& request,
                                           HostMemory& memory) {
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
      return to_answer(probe_peak(request.path, request.isa, threads_of(request, cpus_),
                                  windows_of(request), request.window_ms, clock_));
    case protocol::ProbeKind::copy:
    case protocol::ProbeKind::read:
      return probe_working_set(request, memory);
  }
  return {};
}

}  // namespace halmark::worker
