// A time below its bound may be true: the peaks were perhaps measured in a slower minute. The
// workers of the row say what they reach now.
#pragma once

#include <string>

#include "core/kernel_case.hpp"
#include "core/work.hpp"
#include "measure/campaign/crew.hpp"
#include "measure/campaign/run_peaks.hpp"
#include "roofline/bound.hpp"

namespace halmark {

// Of a row that was judged again at refined peaks; its reason tells what was probed.
inline constexpr const char* fresh_probe_signal = "fresh_probe";

// Probes every ceiling whose part of `bound` contradicts `duration_ns`, on all shards of the crew
// at once, and adds what it saw to `peaks`. Gives it in words: "memory, 2 threads: 49.0 GB/s
// before, 51.2 GB/s in a fresh probe". The crew must hold a CPU; nothing may be staged that is
// still needed in its caches.
std::string probe_afresh(Crew& crew, RunPeaks& peaks, const Work& work,
                         const roofline::Bound& bound, double duration_ns);

}  // namespace halmark
