// Where studies are kept, out of the text that a user gives: Halmark's own forms, and the URLs and
// paths that Optuna takes.
#pragma once

#include <string>

namespace halmark::journal {

enum class StudyBackend { memory, sqlite, journal, postgresql };

struct StudyPlace {
  StudyBackend backend = StudyBackend::memory;
  std::string target;  // the path of a file, or the URL as libpq reads it
};

//   sqlite:PATH, journal:PATH, memory:           as they stand
//   sqlite:///RELATIVE, sqlite:////ABSOLUTE      of SQLAlchemy, with or without a driver's name
//   sqlite://, sqlite:///:memory:                in memory
//   postgresql://, postgres://, postgresql+psycopg2://
//   PATH                                         of a file that is there, by its first bytes, or
//   one
//                                                that ends in .log: Optuna's JournalFileBackend
// Throws Error (exit 2) with the way out for everything else.
StudyPlace study_place(const std::string& location);

}  // namespace halmark::journal
