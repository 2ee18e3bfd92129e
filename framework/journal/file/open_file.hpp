// Judges and opens a database file: what is not ours is refused and stays untouched.
#pragma once

#include <SQLiteCpp/Database.h>

#include <string>

namespace halmark::journal {

enum class Access {
  read_write,
  read_only,
  // Read-only, as far as it can be read: a truncated file, damaged pages and foreign parts pass.
  salvage,
};

// Refuses (exit 2) a URL and a foreign, newer or truncated file from its name and first bytes
// alone, so that nothing is written beside it. An absent file passes.
void judge_file(const std::string& path, Access access = Access::read_write);

// Creates the file (schema complete before it gets its name) when it is absent and access is
// read_write. Throws Error: exit 2 for a URL, a foreign, newer, truncated or damaged file; exit 1
// for a storage error, naming the path.
// A writer refuses whatever is not of halmark's making (triggers, views, foreign tables) and brings
// the file to the present schema, whole or not at all.
SQLite::Database open_file(const std::string& path, Access access);

// A complete database without rows; `path` must not exist.
void make_empty(const std::string& path);

int schema_version_of(SQLite::Database& db);

}  // namespace halmark::journal
