// A results database copied while others may write it.
#pragma once

#include <string>

namespace halmark {

// All that a reader sees of `from` in one state, as the new file `to`: SQLite's online backup,
// which waits for nobody. Throws Error: as open_store_read_only does; exit 2 where `to` exists.
void copy_results_database(const std::string& from, const std::string& to);

}  // namespace halmark
