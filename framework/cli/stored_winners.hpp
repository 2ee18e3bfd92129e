// The winner table of this machine and one plugin build, from the database.
#pragma once

#include "cli/console/session.hpp"
#include "core/winner.hpp"
#include "journal/store.hpp"

namespace halmark::cli {

// The latest winner of each key counts.
WinnerTable stored_winners(const Store& store, const std::string& fingerprint,
                           const std::string& plugin_hash);
// For a plan: the database may be absent and the plugin too. Opens no device; looks for the plugin
// only when there are winners of this machine at all.
WinnerTable stored_winners(const GlobalOptions& global, const std::string& fingerprint,
                           const std::string& backend);

}  // namespace halmark::cli
