// The short probes around every trial and the long ones that `probe` asks for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/dtype.hpp"
#include "host/protocol.hpp"
#include "measure/probe/peak_kernels.hpp"
#include "measure/sampling/interference.hpp"
#include "worker/host_memory.hpp"

namespace halmark::worker {

// What a short probe read; absent = could not be read.
struct MachineReading {
  std::optional<double> clock_hz, peak_flops;
};

class MachineProbes {
 public:
  explicit MachineProbes(ClockSource& clock) : clock_(clock) {}

  // Clock of this core and the short peak of the fastest path of `dtype`; about 2.5 ms, and 1 ms
  // more the first time a dtype is asked for.
  MachineReading read(Dtype dtype);
  Interference& interference() { return interference_; }
  // Remembers affinity and environment. Once, after binding and before a plugin loads: OpenMP binds
  // the main thread to one CPU of the shard.
  void remember_placement();
  // Affinity, thread settings, benchmark library: what the row states about the process.
  const std::string& environment() const { return environment_; }
  // Long form. Working sets live in the arena when they fit.
  protocol::ProbeAnswer probe(const protocol::ProbeRequest& request, HostMemory& memory);

 private:
  protocol::ProbeAnswer probe_working_set(const protocol::ProbeRequest& request,
                                          HostMemory& memory);

  ClockSource& clock_;
  Interference interference_;
  std::map<Dtype, ShortPeakProbe> peaks_;
  std::vector<int> cpus_;
  std::string environment_;
};

}  // namespace halmark::worker
