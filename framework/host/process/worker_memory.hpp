// How much memory a worker may take where nobody says.
#pragma once

#include <cstdint>

namespace halmark {

// What this process could use at all: the machine's memory, or what its control groups leave of it.
std::int64_t usable_memory_bytes();
// 80 % of it, divided by the workers that run at the same time: what is left is the supervisor's,
// the shared arenas', and everybody else's.
std::int64_t default_worker_memory_bytes(int workers_at_once);

}  // namespace halmark
