// What a database holds beside, or instead of, the tables and indexes that halmark makes. A trigger
// or a view is code that runs, or stands in for a table, in the middle of somebody else's
// transaction: a writer accepts none.
#pragma once

#include <SQLiteCpp/Database.h>

#include <string>
#include <vector>

namespace halmark::journal {

// One phrase for each difference from the schema that the file's version has: "a trigger 'x'", "no
// index 'entry_by_key'", "another table 'entry' than halmark makes".
std::vector<std::string> foreign_parts(SQLite::Database& db);

// Throws Error (exit 2) naming the first foreign part, with the command that repairs.
void require_own_schema(SQLite::Database& db, const std::string& path);

// For readers, which meet no trigger: `run`, `entry` and, `with_blocks` and where the version has
// it, `sample_block` are tables. Throws Error (exit 2).
void require_tables(SQLite::Database& db, const std::string& path, bool with_blocks);

}  // namespace halmark::journal
