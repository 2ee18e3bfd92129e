// What a lower bound is made of: how much of a kernel's work must pass under which ceiling.
#pragma once

#include <string>
#include <vector>

#include "roofline/utilisation.hpp"

namespace halmark {

// Peaks that bound a figure; `threads` = CPUs of the whole device.
struct BoundingDevice {
  const Device* device = nullptr;  // null = no bounds
  int threads = 1;
};

// time >= amount / per_s.
struct BoundPart {
  std::string peak;  // "bf16_matrix, 2 threads", "memory, 2 threads"
  double per_s = 0;
  double amount = 0;  // FLOP, or bytes that no nearer cache can hold
  bool is_operations = false;
  std::string source;  // of the peak: "measured 2026-11-21"
};

// The parts whose maximum is lower_bound; none for what the device has no figure of. With `shards`,
// each of `threads` threads and with work and caches of its own, the ceilings of all in equal
// shares: a bound of the slowest of them.
std::vector<BoundPart> bound_parts(const Work& work, const Traffic& traffic, const Device& device,
                                   int threads, int shards = 1);

// Of a case on one shard, with the work that they come from. No parts without a device. Throws
// Error (exit 2) for a problem that its contract refuses.
struct CaseBound {
  Work work;
  std::vector<BoundPart> parts;
};
CaseBound case_bound(const KernelCase& kernel_case, const BoundingDevice& bounding);

}  // namespace halmark
