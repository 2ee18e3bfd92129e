// A timeline as files for other programs.
#pragma once

#include <string>

#include "simulate/timeline/timeline.hpp"

namespace halmark::simulate {

// One object per line and event, by the time of their begin: id, phase, actor, kind, label,
// start_us, end_us, resource, bytes, flops, cause (an array of ids), critical.
std::string json_lines(const Timeline& timeline);

// A trace in the JSON format of Chrome, which Perfetto reads: a process for each device, a thread
// for each of its streams, one more for what it sends. Times in microseconds.
std::string chrome_trace(const Timeline& timeline);

}  // namespace halmark::simulate
