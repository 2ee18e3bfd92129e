// Memory that the parent owns and workers map: made once, reused by every case and round, because
// fresh pages of a virtual machine cost up to 2.5 ms per MB.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "host/process/shared_memory.hpp"

namespace halmark {

// What the kernel says could be used without swapping; 0 = unknown.
std::int64_t available_memory_bytes();

// One arena per worker, `bytes_wanted` of each, faulted in unless `should_stop`; together at most
// `fraction` of the available memory (scaled down alike). None when memory is short: workers then
// stage as many sets as they can.
std::vector<SharedMemory> make_arenas(std::span<const std::int64_t> bytes_wanted,
                                      double fraction = 0.25,
                                      const std::function<bool()>& should_stop = {});
// The same of arenas that are kept: those that are too small grow, so that only what is new is
// faulted in. Where that would exceed the fraction, they are made anew in the sizes wanted now.
void grow_arenas(std::vector<SharedMemory>& arenas, std::span<const std::int64_t> bytes_wanted,
                 double fraction = 0.25, const std::function<bool()>& should_stop = {});

}  // namespace halmark
