// Opens a file of studies: what is not one is refused and stays untouched.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>

#include <chrono>
#include <string>

#include "core/text/error.hpp"
#include "study/storage/open.hpp"

namespace halmark::journal {

// How long one transaction waits among the writers of all processes.
struct StudyTurn {
  static constexpr std::chrono::seconds wait_max{60};
  std::chrono::steady_clock::time_point since{};
};

// Makes the tables, whole or not at all, when the file is absent or empty and `access` allows.
// `turn` must outlive the database.
SQLite::Database open_study_file(const std::string& path, StudyAccess access, StudyTurn& turn);

// Removes the emptied rollback journal, unless another process uses the file now. Never throws.
void remove_empty_journal(SQLite::Database& db) noexcept;

// Throws Error (exit 2) naming a trigger or a view: further tables are others' business, code that
// runs within our transactions is not.
void require_no_code(SQLite::Database& db, const std::string& path);

// Whether the file itself is at fault: pages, header, tables that are not there.
bool is_study_damage(const SQLite::Exception& e);
Error damaged_study(SQLite::Database* db, const SQLite::Exception& e, const std::string& path);

}  // namespace halmark::journal
