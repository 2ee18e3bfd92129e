// What `halmark compare --live` prints, and what `halmark aa` says of comparisons.
#pragma once

#include <vector>

#include "core/text/error.hpp"
#include "history/statistics/duet_verdict.hpp"
#include "history/statistics/false_alarms.hpp"
#include "report/views/view.hpp"

namespace halmark::history {

// How often a comparison calls a build slower or faster than itself, before duets and after.
report::View false_alarms_view(const FalseAlarms& alarms, double floor);

// {"duets"}, what became slower first; one line each.
report::View duets_view(const std::vector<Duet>& duets, double floor);
// By verdict_exit.
ExitCode duets_exit(const std::vector<Duet>& duets, double floor, bool is_gate = false);

}  // namespace halmark::history
