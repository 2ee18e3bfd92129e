// Opens a file of studies: what is not one is refused and stays untouched.
#pragma once

#include <SQLiteCpp/Database.h>

#include <chrono>
#include <string>

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

}  // namespace halmark::journal
