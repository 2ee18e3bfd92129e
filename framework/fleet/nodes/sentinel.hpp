// Whether a node is still what it was: a few fixed kernels on each of its devices, against the same
// node's own past.
#pragma once

#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/measured/worker_limits.hpp"
#include "tune/devices/named_devices.hpp"

namespace halmark::fleet {

// By case and build of the plugin; the least of each look, oldest first, in nanoseconds.
using SentinelHistory = std::map<std::string, std::vector<double>>;

inline constexpr std::size_t looks_to_know = 5;  // without as many nothing has moved
inline constexpr double sentinel_moved = 0.03;   // where the node's own scatter is not above it

// The case that moved most against the median of its past, in words; "" where none did. A node
// whose figures always scatter may move by three standard deviations of that (from the median
// absolute deviation).
std::string moved_sentinel(const SentinelHistory& past, const std::map<std::string, double>& now);

class Sentinel {
 public:
  // `file`: the history of this node, made with the first look. Refers to the devices.
  Sentinel(tune::NamedDevices& devices, const WorkerLimits& limits, std::string file,
           std::stop_token stop);

  // Measures those devices ("cpu:0"), each for a few seconds. What did not move becomes part of the
  // past. Returns moved_sentinel(); "" when interrupted. Throws Error: exit 2 for a file that is no
  // history, exit 1 where it cannot be written.
  std::string look(const std::set<std::string>& devices);

 private:
  std::map<std::string, double> measure(const std::set<std::string>& devices);

  tune::NamedDevices& devices_;
  WorkerLimits limits_;
  std::string file_;
  std::stop_token stop_;
};

}  // namespace halmark::fleet
