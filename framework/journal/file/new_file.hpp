// New database files get their name when they are complete, and never take one that is in use.
#pragma once

#include <SQLiteCpp/Database.h>

#include <string>

namespace halmark::journal {

// Gives a complete file its name. Throws Error (exit 2) where the name is taken, exit 1 for a
// storage error.
void publish(const std::string& temporary, const std::string& name);

// Throws Error (exit 2) where `name` exists.
void require_absent(const std::string& name);

// Removes a file with what SQLite keeps beside it; absent is fine.
void remove_database(const std::string& path);

// All that `from` sees in one state, as a file of its own. Throws as publish and SQLite do.
void copy_database(SQLite::Database& from, const std::string& to);

void sync_folder_of(const std::string& path);

}  // namespace halmark::journal
