// What a retention policy deletes of a database, and what its rows take.
#pragma once

#include "history/retention.hpp"
#include "report/views/view.hpp"

namespace halmark::history {

// {"policy", "dry_run", "runs", "rows", "bytes", "bytes_per_row", "sample_bytes_per_row",
// "file_bytes_before", "file_bytes", "free_bytes"}
report::View retention_view(const Retention& retention);

}  // namespace halmark::history
