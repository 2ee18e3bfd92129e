// Memory that the parent owns and workers map: made once, reused by every case and round, because
// fresh pages of a virtual machine cost up to 2.5 ms per MB.
#pragma once

#include <cstdint>
#include <vector>

#include "core/kernel_case.hpp"
#include "host/shared_memory.hpp"

namespace halmark {

// Bytes that one worker needs to stage the case with all its sets. Throws Error (exit 2) for a
// problem that its contract refuses.
std::int64_t arena_bytes(const KernelCase& kernel_case);

// What the kernel says could be used without swapping; 0 = unknown.
std::int64_t available_memory_bytes();

// `count` arenas of `bytes_wanted` each, faulted in; together at most `fraction` of the available
// memory. Fewer or none when memory is short: workers then stage as many sets as they can.
std::vector<SharedMemory> make_arenas(int count, std::int64_t bytes_wanted, double fraction = 0.25);

}  // namespace halmark
