// Cuts the CPU into equal shards. Sole user of hwloc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/kernel_case.hpp"

namespace halmark {

// Logical CPU numbers, ascending. One device = the affinity set that it is given.
struct CpuSet {
  std::vector<int> cpus;
  int threads() const { return static_cast<int>(cpus.size()); }
  std::string text() const;  // "0-3,8"
  bool operator==(const CpuSet&) const = default;
};

// What a set of CPUs is, whichever of the machine's it holds: figures of equal shapes compare.
struct CpuShape {
  CpuSet cpus;  // all processing units
  int cores = 0;
  std::vector<int> cores_of_nodes;  // per NUMA node that the set touches, largest first
  std::vector<std::string> caches;  // "L2 2048 KiB of 1 CPU x2": what of it serves the set
  bool has_siblings() const { return cpus.threads() > cores; }
};

// The CPUs this process may use, as cores and NUMA nodes. Immutable after construction.
class Topology {
 public:
  static Topology of_machine();                               // throws Error (exit 5)
  static Topology synthetic(const std::string& description);  // hwloc syntax, for tests
  Topology(Topology&&) noexcept;
  Topology& operator=(Topology&&) noexcept;
  ~Topology();

  int cores() const;
  int processing_units() const;
  const CpuShape& shape() const;
  // `parts` equal sets, disjoint, one processing unit per physical core while there are cores
  // enough (siblings share the FMA units: a second thread per core buys no matmul throughput);
  // siblings are used only when parts > cores. No set crosses a NUMA node unless it is larger than
  // one or no such cut exists; cores that do not divide evenly stay idle. Throws Error (exit 2)
  // when parts exceeds the processing units.
  std::vector<CpuSet> cut(int parts) const;

 private:
  struct Layout;
  explicit Topology(std::unique_ptr<Layout> layout);
  std::unique_ptr<Layout> layout_;
};

// These ask the machine's topology, read once.
const CpuShape& cpu_shape();
std::vector<CpuSet> cut(int parts);
CpuSet cpus_of(const ShardPlace& place);

}  // namespace halmark
