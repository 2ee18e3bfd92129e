// The real clock of the core that the calling thread runs on.
#pragma once

#include "measure/sampling/clock_source.hpp"

namespace halmark {

// Hz: the median of `windows` short windows of a chain of dependent integer multiplies (about
// 0.1 ms each at 3 GHz). A chain of adds is folded before execution on recent cores and reads
// 20 GHz. Assumes 3 cycles per multiply, true for x86-64 cores since 2008 and current Arm cores
// within 4/3; compare it with itself, not between architectures.
double probe_clock_hz(ClockSource& clock, int windows = 3);

}  // namespace halmark
