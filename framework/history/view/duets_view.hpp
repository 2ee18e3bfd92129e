// What `halmark compare --live` prints.
#pragma once

#include <vector>

#include "core/text/error.hpp"
#include "history/duet_verdict.hpp"
#include "report/views/view.hpp"

namespace halmark::history {

// {"duets"}, what became slower first; one line each.
report::View duets_view(const std::vector<Duet>& duets, double floor);
// 3 with a SLOWER, 4 with an UNDECIDED or INVALID.
ExitCode duets_exit(const std::vector<Duet>& duets, double floor);

}  // namespace halmark::history
