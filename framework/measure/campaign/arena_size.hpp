// How much of an arena a case fills.
#pragma once

#include <cstdint>

#include "core/kernel_case.hpp"

namespace halmark {

// Bytes that staging the case fills: every operand of every set, and the plain constants beside the
// packed ones. Throws Error (exit 2) for a problem that its contract refuses.
std::int64_t staged_bytes(const KernelCase& kernel_case);

// What one worker needs for that, scratchpad included. Throws Error (exit 2) for a
// problem that its contract refuses.
std::int64_t arena_bytes(const KernelCase& kernel_case);

}  // namespace halmark
