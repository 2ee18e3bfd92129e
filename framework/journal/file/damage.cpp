#include "journal/file/damage.hpp"

#include <SQLiteCpp/Statement.h>
#include <sqlite3.h>

namespace halmark::journal {

// Statements are ours and right for the tables that we make: what they cannot find is not there.
// TOOBIG: a length that no row of ours has (SQLITE_LIMIT_LENGTH).
bool is_damage(const SQLite::Exception& e) {
  if (e.getExtendedErrorCode() == SQLITE_IOERR_SHORT_READ) return true;
  switch (e.getErrorCode()) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_TOOBIG:
    case SQLITE_ERROR:
      return true;
    default:
      return false;
  }
}

std::string first_fault(SQLite::Database& db) {
  try {
    SQLite::Statement check(db, "PRAGMA quick_check(1)");
    while (check.executeStep()) {
      const std::string line = check.getColumn(0).getString();
      if (line != "ok") return line;
    }
  } catch (const SQLite::Exception&) {
    // The check met what it was to describe.
  }
  return {};
}

std::string salvage_remedy(const std::string& path) {
  return "'halmark salvage " + path + " NEW.db' copies every sound row into a new file";
}

Error damaged_file(const std::string& what, const std::string& path) {
  return refused("this database is damaged: " + what, path, salvage_remedy(path));
}

Error storage_error(SQLite::Database* db, const SQLite::Exception& e, const std::string& doing,
                    const std::string& path, const std::string& remedy) {
  if (!is_damage(e)) return {ExitCode::error, doing + ": " + e.what(), path, remedy};
  const std::string place = db == nullptr ? std::string() : first_fault(*db);
  return damaged_file(e.what() + (place.empty() ? place : " (" + place + ')'), path);
}

}  // namespace halmark::journal
