// Runs of a sweep with [nightly]: every call is a night of its own, unless it goes on with one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "journal/store.hpp"

namespace halmark::tune {

// Whether a run of the plan is a night that this call goes on with: it was not finished, and is of
// the same date (or, where the caller names none, began within the last 12 hours).
bool goes_on_with(const Store& store, std::int64_t run, const std::string& date);
// Closes a night: the next call begins another. `build`: id of the kept build that it ran, or "".
// Raw samples from before the latest `keep_samples_nights` nights are retired, of all runs; 0 = all
// stay. Their space is for later rows.
void close_night(Store& store, std::int64_t run, std::vector<std::string> machine_lines,
                 std::string build, int keep_samples_nights);

}  // namespace halmark::tune
