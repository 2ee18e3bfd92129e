// What a retention policy deletes of a database, and what its rows take, for terminals and
// programs.
#pragma once

#include <string>

#include "journal/retention.hpp"
#include "report/views/view.hpp"

namespace halmark::history {

// `notes`: why the file did not become smaller; "" where it did, or had no need to.
report::View retention_view(const RetiredSamples& retired, const RetentionPolicy& policy,
                            bool is_dry_run, const std::string& notes);

}  // namespace halmark::history
