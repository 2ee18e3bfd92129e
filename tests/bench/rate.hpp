// Loops timed by Google Benchmark, for calls that repeat without limit.
#pragma once

#include <functional>
#include <string>

namespace halmark::bench {

// Seconds of one call: the median over five repetitions of the mean of each.
double seconds_per_call(const std::string& name, const std::function<void()>& call);

}  // namespace halmark::bench
