// Winners of a machine as the journal has them.
#pragma once

#include <string>
#include <vector>

#include "journal/run_identity.hpp"
#include "report/views/winner_views.hpp"

namespace halmark::tune {

// Of each key and plugin build the latest, in order of keys.
std::vector<report::StoredWinner> latest_winners(const Store& store,
                                                 const MachineIdentity& machine);

// Those of one plugin build, as the choice of kernels of a plan.
WinnerTable winner_table(const Store& store, const MachineIdentity& machine,
                         const std::string& plugin_hash);

}  // namespace halmark::tune
