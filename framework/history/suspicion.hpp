// Which kernels of a night are worth a duet: a pure fold over their nights.
#pragma once

#include "history/nights.hpp"

namespace halmark::history {

// How much likelier the last night is if the code has changed by some percent than if the noise of
// this kernel's nights is all: natural logarithm of a Bayes factor, of steps that spread normally
// by 5 %. Against the nights before, and against the last of them, so that a repair is seen too.
// Where the memory's speed moved the nights, that is taken out. 0 with a single night.
double suspicion_of(const SeriesHistory& series);

}  // namespace halmark::history
