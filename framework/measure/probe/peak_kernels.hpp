// Register-only kernels that show what each instruction-set path of this CPU can reach, and memory
// kernels that show what its caches and memory can. Host code: no plugin has a say in a peak.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"
#include "measure/sampling/clock_source.hpp"

namespace halmark {

// One way to compute in a dtype. `run` executes `iterations` loop turns on the calling thread;
// multiply and add both count.
struct PeakPath {
  std::string_view path;  // "f32_vector", "bf16_matrix", ...: the naming of device files
  std::string_view isa;   // "avx2", "avx512_core_amx", ...; "" = whatever the compiler made
  Dtype dtype = Dtype::f32;
  double flops_per_iteration = 0;
  void (*run)(std::int64_t iterations) = nullptr;
};

// What this CPU has, slowest isa first within a dtype. A dtype without instructions of its own is
// computed in f32 after conversion, so its ceiling there is the f32 rate: such rows repeat the f32
// kernel under the dtype's name.
std::vector<PeakPath> peak_paths();

// CPUs that the calling thread may run on. Taken before a plugin loads: a threading library may
// bind the main thread to one of them.
std::vector<int> allowed_cpus();

// How many threads, and where: thread i on cpus[i % size]; one thread stays on the caller's.
struct ProbeThreads {
  int count = 1;
  std::vector<int> cpus;
};

struct ProbeRates {
  std::vector<double> rates;  // one per window: FLOP/s or bytes/s
  std::string reason = {};    // why there are none
  double cpu_share = 1;       // CPU time of its threads over the time of their windows
};

// Rate per window of all threads together; a window counts from the first thread's begin to the
// last one's end. An unknown path or one that this CPU lacks gives no rates but a reason. An empty
// `isa` takes the fastest that the CPU has.
ProbeRates probe_peak(std::string_view path, std::string_view isa, const ProbeThreads& threads,
                      int windows, double window_ms, ClockSource& clock);

enum class MemoryKernel { read, copy };

// Bytes/s per window over `memory` cut evenly between the threads. copy: one half into the other,
// counted as read + written; plain or streaming stores, whichever is faster at this size.
ProbeRates probe_memory(MemoryKernel kernel, std::span<std::byte> memory,
                        const ProbeThreads& threads, int windows, double window_ms,
                        ClockSource& clock);

// Bytes/s of one pass each over consecutive slices of `slice_bytes` of the memory, all threads
// together; nothing is read twice, so that memory which no cache holds stays so. No rates where a
// slice is too small for these threads.
ProbeRates read_slices(std::span<std::byte> memory, std::size_t slice_bytes,
                       const ProbeThreads& threads, ClockSource& clock);

// The short form around every trial: one thread, the fastest path of `dtype`, 2 windows of 1 ms.
// Calibrates on construction.
class ShortPeakProbe {
 public:
  ShortPeakProbe(Dtype dtype, ClockSource& clock);
  // FLOP/s, the better of the two windows; 0 when no path computes in this dtype.
  double flops_per_s();

 private:
  PeakPath path_;
  ClockSource& clock_;
  std::int64_t iterations_ = 0;
};

}  // namespace halmark
