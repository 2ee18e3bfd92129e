// How what was measured ended, as the exit code of a command.
#pragma once

#include "core/text/error.hpp"
#include "plan/sweep.hpp"
#include "tune/search/measure.hpp"

namespace halmark::tune {

// Of one row: incorrect where its result is wrong, partial where it has none.
ExitCode exit_code_of(Status status);

// incorrect where a stack computed something wrong; partial where anything failed, or nothing
// usable came of it. A night may end before any configuration has all its kernels: its rows are
// what it is for.
ExitCode exit_code_of(const TuneRun& run, const Sweep& sweep);

}  // namespace halmark::tune
