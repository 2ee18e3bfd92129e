// Measures what this machine can reach: FLOP/s per path, bandwidth per cache level, ring plateau.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/measured/worker_limits.hpp"
#include "host/protocol.hpp"

namespace halmark {

struct PeakOptions {
  bool is_quick = true;  // about 15 s; the long form takes a minute or more
  std::map<std::string, std::string> environment;
  WorkerLimits limits = {};
  std::string date_utc;  // written as the source of every figure
  std::function<void(double share, const std::string& what)> progress;
  std::function<bool()> should_stop;  // asked between probes; what is measured so far is returned
};

// A Device "cpu:0" with measured figures, each with this one occasion. Threads 1 and all. Bandwidth
// entries carry the total working set of all threads, half the cache they fit into; reads and
// copies are entries of their own. Throws Error (exit 5) when no probe worker can be started.
Device measure_peaks(const PeakOptions& options);

struct CacheLevel;
// What is asked of the worker, as a function, so that the course of the probes can be tested.
using ProbeFunction = std::function<protocol::ProbeAnswer(const protocol::ProbeRequest&)>;

// The probes of measure_peaks: what they give of `device`. `memory_bytes`: working set of the
// memory's own level.
void fill_peaks(const PeakOptions& options, const ProbeFunction& probe, int threads_all,
                std::span<const CacheLevel> caches, std::int64_t memory_bytes, Device& device);

// One data cache of a core's view: level 1..n.
struct CacheLevel {
  int level = 1;
  std::int64_t bytes = 0;
};
// From the kernel's words ("L1 data 32K", "L2 unified 2 MiB"); instruction caches are left out.
std::vector<CacheLevel> parse_caches(std::span<const std::string> caches);

// Ring size from which constants are cold: doubles 64 -> 1024 MiB until the rate changes by less
// than 3 %, times 1.25. Nothing when the probe gives no rates.
std::optional<std::int64_t> find_ring_plateau(const ProbeFunction& probe, int threads,
                                              std::int64_t bytes_max);

}  // namespace halmark
