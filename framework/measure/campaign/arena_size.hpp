// How much of an arena a case fills, and what arenas of a campaign are to hold.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/kernel_case.hpp"
#include "host/process/run_memory.hpp"

namespace halmark {

// Bytes that staging the case fills: every operand of every set, and the plain constants beside the
// packed ones. Throws Error (exit 2) for a problem that its contract refuses.
std::int64_t staged_bytes(const KernelCase& kernel_case);

// What one worker needs for that, scratchpad included. Throws Error (exit 2) for a
// problem that its contract refuses.
std::int64_t arena_bytes(const KernelCase& kernel_case);

// Of the arena of each rank: every kernel with all the argument sets of its stack.
std::vector<std::int64_t> stack_arena_bytes(std::span<const Stack> stacks);

// Without so much a worker cannot stage the case, or these cases together: one argument set of
// each, and the largest plain constants beside them while they are packed.
std::int64_t least_bytes(std::span<const KernelCase> together);

// By worker: the most that any case wants, and the least with which all of them can be staged.
struct ArenaNeed {
  std::vector<std::int64_t> wanted, least;
  std::int64_t least_at_once = 0;  // of the case or stack that needs most, over its workers

  void add(const KernelCase& kernel_case);
  void add(std::span<const Stack> stacks);
  std::int64_t wanted_bytes() const;

 private:
  void raise(std::span<const std::int64_t> more, std::span<const std::int64_t> more_least);
};

// "needs 5120 MiB of memory for one argument set of each kernel on 2 shards, and this run may use
// 3840 MiB (limit of /sys/fs/cgroup)"; nothing where it may have `bytes`.
std::optional<std::string> memory_refusal(std::int64_t bytes, std::size_t workers,
                                          const RunMemory& memory);

}  // namespace halmark
