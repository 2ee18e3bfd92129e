// The front of evaluated configurations.
#pragma once

#include <span>
#include <vector>

#include "core/chosen/objective.hpp"

namespace halmark::tune {

// Of steps: indices of evaluations with an estimate that no other of their phase dominates; decode
// first, then prefill, each by latency. A prefill step and a decode step are no alternatives to one
// another. A bound is what nobody can beat, not what somebody reached: an estimate with a time that
// is one stands on the front beside measured ones and takes no place of theirs, unless
// `bounds_compete`.
std::vector<std::size_t> step_front(std::span<const Evaluation> evaluations,
                                    std::span<const Objective> objectives,
                                    bool bounds_compete = false);

}  // namespace halmark::tune
