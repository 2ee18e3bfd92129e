#include "study/storage/sqlite_copy.hpp"

#include <SQLiteCpp/Backup.h>

#include <filesystem>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "study/storage/open.hpp"
#include "study/storage/sqlite_file.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;
using namespace journal;

void discard_copy(const std::string& path) {
  std::error_code ignored;
  for (const char* rest : {"", "-journal", "-wal", "-shm"}) fs::remove(path + rest, ignored);
}

// SQLite's own check, then every study and trial.
CopiedStudies read_whole(const std::string& path) {
  {
    SQLite::Database db(path, SQLite::OPEN_READONLY);
    const std::string found = db.execAndGet("PRAGMA integrity_check").getString();
    if (found != "ok") throw refused("the copy does not verify: " + found, path);
  }
  CopiedStudies out;
  const auto store = open_study_store("sqlite:" + path, StudyAccess::existing);
  for (const StudySummary& study : store->list()) {
    TrialCursor cursor;
    out.trials += as_int64(store->trials(study.info.id, cursor).size());
    ++out.studies;
  }
  return out;
}

}  // namespace

CopiedStudies copy_study_file(const std::string& from, const std::string& to) {
  std::error_code code;
  if (fs::exists(fs::symlink_status(to, code))) {
    throw refused("this file exists, and is not overwritten", to, "name another one");
  }
  const std::string temporary = to + ".new";
  discard_copy(temporary);
  try {
    {
      StudyTurn turn;
      SQLite::Database source = open_study_file(from, StudyAccess::existing, turn);
      SQLite::Database target(temporary, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      SQLite::Backup(target, source).executeStep(-1);
      remove_empty_journal(source);
    }
    const CopiedStudies out = read_whole(temporary);
    fs::rename(temporary, to);
    return out;
  } catch (const SQLite::Exception& e) {
    discard_copy(temporary);
    throw Error(ExitCode::error, std::string("the copy cannot be made: ") + e.what(), to,
                "free space there, or name another folder");
  } catch (const fs::filesystem_error& e) {
    discard_copy(temporary);
    throw Error(ExitCode::error, "the copy cannot be made: " + e.code().message(), to);
  } catch (...) {
    discard_copy(temporary);
    throw;
  }
}

}  // namespace halmark
