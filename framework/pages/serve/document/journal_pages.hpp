// What the results database knows, for the page: runs, the points of their fronts, two runs side by
// side. Opens for reading alone, for each question anew: other programs write meanwhile.
#pragma once

#include <string>

#include "core/json/json_type.hpp"

namespace halmark::pages {

// {"runs": [{"id", "command", "started_utc", "kernels", "failed", "invalid", "configurations"},
// ...]}, the latest first; "reason" where there are none.
Json journal_runs(const std::string& database);
// {"points": [{"name", "step_ns", "low_ns", "high_ns", "tokens_per_s", "bytes_per_rank", "mfu",
// "from", "status", "measured_ns"}, ...]} of a run.
Json journal_points(const std::string& database, std::int64_t run);
// As of halmark compare. Throws Error (exit 2) for sides that do not compare.
Json journal_comparison(const std::string& database, const std::string& before,
                        const std::string& after);

}  // namespace halmark::pages
