// The tables of the architecture-specific files. Internal to the peak probes.
#pragma once

#include <vector>

#include "measure/probe/cpu_features.hpp"
#include "measure/probe/peak_kernels.hpp"

namespace halmark {

// Appends the paths of a CPU that has these features; nothing on other architectures.
void append_x86_vector_paths(const CpuFeatures& has, std::vector<PeakPath>& paths);
void append_x86_matrix_paths(const CpuFeatures& has, std::vector<PeakPath>& paths);
// Of an Arm CPU with these features; every one has the paths of "asimd".
void append_arm_vector_paths(const ArmFeatures& has, std::vector<PeakPath>& paths);
// Plain C++ that the compiler vectorises as far as the build's baseline allows.
void append_portable_paths(std::vector<PeakPath>& paths);

// One pass of a memory kernel over `bytes` (a multiple of 512) at `from`; copies also to `to`.
using MemoryPass = void (*)(const std::byte* from, std::byte* to, std::size_t bytes);
struct MemoryPasses {
  MemoryPass read = nullptr, copy = nullptr, copy_streaming = nullptr;
};
// The widest that a CPU with these features has.
MemoryPasses memory_passes(const CpuFeatures& has);

}  // namespace halmark
