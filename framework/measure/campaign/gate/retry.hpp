// Which trials are worth another, and which of two is the row.
#pragma once

#include "core/measured/measurement.hpp"

namespace halmark {

// After these the worker is not trusted any more.
bool is_loss(Status status);

// Noise, which may be gone later. A series that its wall cap ended would only be as long again.
bool is_disturbed(const Measurement& row);

// A time that its own clocks contradict, and nobody has looked a second time: on a busy machine
// the few intervals behind such a check can lie, a plugin that cheats does so again.
bool is_unconfirmed(const Measurement& row);

// The verdict decides, then the share of clean samples; never how fast it was. A contradiction to a
// bound, a confirmed one to its clocks, a wrong answer or a crash is no noise: it stands. The row
// says what both have cost, and `tries` when it is not the first.
Measurement better_of(Measurement first, Measurement again, int tries);

}  // namespace halmark
