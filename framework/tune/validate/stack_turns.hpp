// How a run of a whole stack and its kernels share the time that there is for both.
#pragma once

#include <optional>

#include "core/chosen/configuration.hpp"

namespace halmark::tune {

struct StackTurns {
  int pairs = 0;       // of a run and its kernels
  int pairs_more = 0;  // for those that a move of the machine sets apart
  double block_s = 0;  // of a turn; one step where that takes longer
  double run_s = 0;    // what all of it should take, staging included
};

// The richest way that takes at most `affordable_s`: five pairs in turns of `block_s` and two more
// where they are needed, then turns of half that, then three pairs. Nothing where none does.
std::optional<StackTurns> turns_within(const Estimate& estimate, double block_s,
                                       double affordable_s);
// What the poorest way takes.
double cheapest_run_s(const Estimate& estimate, double block_s);

}  // namespace halmark::tune
