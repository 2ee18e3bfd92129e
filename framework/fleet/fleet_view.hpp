// What a fleet does, as a table: its agents, and how far its runs are.
#pragma once

#include <span>

#include "fleet/work_table.hpp"
#include "report/views/view.hpp"

namespace halmark::fleet {

// {"agents": [...], "runs": [...]}, schema in results/schema/fleet.md. An agent that was not heard
// for three leases is shown as silent.
report::View fleet_view(std::span<const Agent> agents, std::span<const RunProgress> runs);

}  // namespace halmark::fleet
