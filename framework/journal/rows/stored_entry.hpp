// A row on its way to a checker.
#pragma once

#include "journal/check.hpp"
#include "journal/rows/stored_row.hpp"

namespace halmark::journal {

StoredEntry checked_entry(StoredRow row);

}  // namespace halmark::journal
