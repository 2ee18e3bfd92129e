// Collectives move bits: a sum of bf16 takes as long as one of f16, and tables state whichever type
// their collector took.
#pragma once

#include "core/problem.hpp"

namespace halmark {

// A collective of a 16-bit float, as one of bf16; any other problem as it is.
Problem with_one_16_bit_type(Problem problem);
bool is_16_bit_collective(const Problem& problem);

}  // namespace halmark
