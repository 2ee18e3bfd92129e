// Opens the storage of studies by its location. Three back ends, all in Optuna's own formats:
//   sqlite:PATH      its tables at revision v3.2.0.a in a plain file, many short writers
//   journal:PATH     its journal file: JSON lines, appended under PATH.lock
//   postgresql://... its tables in a server's database
// and memory:, the tables in a file that never is, for a study that need not outlive its process.
// The URLs and paths that Optuna itself takes name the same places (location.hpp).
#pragma once

#include <memory>
#include <string>

#include "study/values.hpp"

namespace halmark {

enum class StudyAccess {
  existing,   // refuses an absent file or a database without the tables, and makes nothing
  or_create,  // makes what is absent
};

// Throws Error: exit 2 for an unknown kind of location, a foreign, damaged or older file, a
// database without studies; exit 1 for a storage that cannot be reached.
std::unique_ptr<StudyStore> open_study_store(const std::string& location, StudyAccess access);

// Whether a word can only be a place: it has the form of one, or names a file of studies that is
// there.
bool is_study_location(const std::string& word);

// The forms, for --help.
inline constexpr const char* study_locations =
    "sqlite:PATH, journal:PATH, postgresql://..., or as Optuna writes it (sqlite:///FILE)";

}  // namespace halmark
