// A results database that verifies, from one that does not.
#pragma once

#include <string>

#include "journal/salvage.hpp"
#include "verify/database.hpp"

namespace halmark {

struct Salvage {
  SalvageCopy copy;     // left_out also names the rows whose figures do not follow from others
  DatabaseCheck check;  // of the new file: without findings
};

// Makes the new file `to` of every row of `from` that verifies; `from` is only read. Throws Error:
// exit 2 where `from` is no results database or nothing of it can be read, or where `to` exists;
// exit 1 for a storage error. Nothing is left of a file that is not complete.
Salvage salvage_database(const std::string& from, const std::string& to);

// Throws Error (exit 2) where one of them is the URL of a server.
void require_files(const std::string& from, const std::string& to);

}  // namespace halmark
