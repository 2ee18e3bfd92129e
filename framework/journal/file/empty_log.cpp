#include "journal/file/empty_log.hpp"

#include <SQLiteCpp/Database.h>

#include <filesystem>

namespace halmark::journal {

// SQLite's own last connection removes its log, under its locks: one that may write is that. The
// log is empty, so that nothing of it goes into the database.
EmptyLog::~EmptyLog() {
  std::error_code absent;
  if (path_.empty() || std::filesystem::file_size(path_ + "-wal", absent) != 0 || absent) return;
  try {
    SQLite::Database db(path_, SQLite::OPEN_READWRITE);
    db.exec("PRAGMA query_only = ON");
    db.execAndGet("SELECT count(*) FROM sqlite_schema");
  } catch (...) {
    // It is empty and hurts nobody.
  }
}

}  // namespace halmark::journal
