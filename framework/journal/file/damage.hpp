// What SQLite reports, as one line with the exit code that users know: damage is a refusal (2) that
// names the place, everything else a storage error (1).
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>

#include <string>

#include "core/text/error.hpp"

namespace halmark::journal {

// Whether the file itself is at fault: pages, header, schema, sizes.
bool is_damage(const SQLite::Exception& e);

// The first thing that SQLite's own check says of the file, a tree and page where it knows them;
// empty where it says nothing.
std::string first_fault(SQLite::Database& db);

// "halmark salvage PATH NEW copies ..."
std::string salvage_remedy(const std::string& path);

Error damaged_file(const std::string& what, const std::string& path);

// `doing`: "the rows cannot be read". `db` may be null where there is no connection yet.
Error storage_error(SQLite::Database* db, const SQLite::Exception& e, const std::string& doing,
                    const std::string& path, const std::string& remedy = {});

}  // namespace halmark::journal
