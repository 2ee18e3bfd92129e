// Raw samples that lie beside rows, and the room that they take in the file.
#pragma once

#include <SQLiteCpp/Database.h>

#include <string>
#include <vector>

#include "journal/store.hpp"

namespace halmark::journal {

// Of all runs that have any, in order; none of a file of an earlier version.
std::vector<RunSamples> stored_samples(SQLite::Database& db);
// Within the transaction that says so in the run's chain.
RunSamples delete_samples(SQLite::Database& db, std::int64_t run);

DatabaseSize database_size(SQLite::Database& db);
// Outside of transactions. Throws Error (exit 1) where the folder lacks the space.
void shrink_database(SQLite::Database& db, const std::string& path);

}  // namespace halmark::journal
