// Memory that the parent owns and workers map: made once, reused by every case and round, because
// fresh pages of a virtual machine cost up to 2.5 ms per MB.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/process/shared_memory.hpp"

namespace halmark {

// What the kernel says could be used without swapping; 0 = unknown.
std::int64_t available_memory_bytes();

// One arena per worker, `bytes_wanted` of each, faulted in; together at most `fraction` of the
// available memory (scaled down alike). None when memory is short: workers then stage as many sets
// as they can.
std::vector<SharedMemory> make_arenas(std::span<const std::int64_t> bytes_wanted,
                                      double fraction = 0.25);
// True when `arenas` serve these wishes already.
bool arenas_suffice(std::span<const SharedMemory> arenas,
                    std::span<const std::int64_t> bytes_wanted);

}  // namespace halmark
