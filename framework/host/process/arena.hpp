// Memory that the parent owns and workers map: made once, reused by every case and round, because
// fresh pages of a virtual machine cost up to 2.5 ms per MB.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "host/process/run_memory.hpp"
#include "host/process/shared_memory.hpp"

namespace halmark {

struct ArenaOptions {
  double fraction = 0.25;  // of what the run may use, for all arenas together
  // By arena: without so much a case does not fit. Arenas hold that beyond the fraction, because
  // workers would take it beside them; not beyond four fifths of what the run may use.
  std::vector<std::int64_t> least = {};
  std::function<bool()> should_stop = {};
  ReadMemory read_memory = [] { return run_memory(); };
};

// One arena per worker, `bytes_wanted` of each or less of all alike, faulted in unless
// `should_stop`. None when memory is short: workers then stage as many sets as they can.
std::vector<SharedMemory> make_arenas(std::span<const std::int64_t> bytes_wanted,
                                      const ArenaOptions& options = {});
// The same of arenas that are kept: those that are too small grow, so that only what is new is
// faulted in. Where that would exceed the fraction, they are made anew in the sizes wanted now.
void grow_arenas(std::vector<SharedMemory>& arenas, std::span<const std::int64_t> bytes_wanted,
                 const ArenaOptions& options = {});

std::int64_t bytes_of(std::span<const SharedMemory> arenas);

}  // namespace halmark
