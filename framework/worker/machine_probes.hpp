// The short probes around every trial and the long ones that `probe` asks for.
#pragma once

#include <functional>
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

  // Clock of this core and the short peak of the fastest path of `dtype`; about 3 ms, and 1 ms
  // more the first time a dtype is asked for.
  MachineReading read(Dtype dtype);
  // The median of five, for what takes as long as many trials: one reading is a moment.
  MachineReading read_state(Dtype dtype);
  Interference& interference() { return interference_; }
  // For samples of this process. `counts_lost_cpu`: its threads never sleep by themselves.
  ChunkRule chunk_rule(double disturbed_share, bool counts_lost_cpu) const;
  // Remembers affinity and environment. Once, after binding and before a plugin loads: OpenMP binds
  // the main thread to one CPU of the shard.
  void remember_placement();
  // Affinity, thread settings, benchmark library: what the row states about the process.
  const std::string& environment() const { return environment_; }
  // Waits for the other shards that probe; false when they are gone.
  using Start = std::function<bool()>;
  // Long form, and slices. Working sets live in the arena when they fit. `start` is called once
  // memory is there, by probes that shards may run together.
  protocol::ProbeAnswer probe(const protocol::ProbeRequest& request, HostMemory& memory,
                              const Start& start);

  // Kept beside the arena for later slices.
  std::int64_t held_bytes() const { return static_cast<std::int64_t>(beside_arena_.bytes()); }

 private:
  std::optional<double> best_of_undisturbed(const std::function<double()>& probe);

  protocol::ProbeAnswer probe_working_set(const protocol::ProbeRequest& request, HostMemory& memory,
                                          const Start& start);

  // Slices that walk through the arena and memory beside it, each last touched longest ago.
  protocol::ProbeAnswer probe_slices(const protocol::ProbeRequest& request, HostMemory& memory,
                                     const Start& start);

  ClockSource& clock_;
  Interference interference_;
  std::map<Dtype, ShortPeakProbe> peaks_;
  std::vector<int> cpus_;
  std::string environment_;
  HostBlock beside_arena_;     // for slices, where the arena is small
  std::uint64_t walk_at_ = 0;  // offset of the next slice
};

}  // namespace halmark::worker
