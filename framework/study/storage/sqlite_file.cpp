#include "study/storage/sqlite_file.hpp"

#include <SQLiteCpp/Statement.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include "core/input/file_kind.hpp"
#include "core/input/places.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/sqlite_header.hpp"
#include "study/storage/backends.hpp"
#include "study/storage/tables.hpp"

namespace halmark::journal {
namespace {

namespace fs = std::filesystem;

constexpr int row_bytes_max = 64 << 20;  // a length that a damaged page claims is no row of ours

bool has_content(const std::string& path) {
  std::error_code code;
  return fs::exists(path, code) && (!fs::is_regular_file(path, code) || fs::file_size(path, code));
}

// From its first bytes, before the library touches the file.
void judge_header(const std::string& path) {
  const auto header = read_sqlite_header(path);
  if (!header && has_content(path + "-journal")) return;  // its first page may be taken back
  if (!header) {
    throw other_kind(beginning_of(path), path, "a database of studies");
  }
  const std::uint32_t id = header->application_id;
  if (id == as_uint32(journal_application_id)) {
    throw refused("this is a results database; studies have a file of their own", path,
                  "its studies are in sqlite:" + path + ".study");
  }
  if (id != 0) throw refused("this database belongs to another program", path);
  const std::uint64_t wanted = header->file_bytes;
  // A kill leaves the rest of a transaction in the -journal: the library brings it back.
  if (!has_content(path + "-journal") && !has_content(path + "-wal") &&
      fs::file_size(path) < wanted) {
    throw refused("this file is truncated: " + std::to_string(fs::file_size(path)) + " of " +
                      std::to_string(wanted) + " bytes",
                  path, "'halmark salvage " + path + " NEW' copies the studies that can be read");
  }
}

// SQLite's own waiting sleeps up to 100 ms and gives up after a fixed time; eight writers need
// shorter turns and more patience.
int wait_for_turn(void* argument, int count) {
  StudyTurn& turn = *static_cast<StudyTurn*>(argument);
  const auto now = std::chrono::steady_clock::now();
  if (count == 0) turn.since = now;
  if (now - turn.since > StudyTurn::wait_max) return 0;
  const auto jitter = as_uint64(now.time_since_epoch().count()) / 64 % 4;
  std::this_thread::sleep_for(std::chrono::microseconds(200 * (1 + jitter)) *
                              std::min(count + 1, 10));
  return 1;
}

void configure(SQLite::Database& db, StudyTurn& turn) {
  sqlite3* handle = db.getHandle();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_busy_handler(handle, wait_for_turn, &turn);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, row_bytes_max);
  db.exec("PRAGMA foreign_keys = ON");
  db.exec("PRAGMA trusted_schema = OFF");
  db.exec("PRAGMA cell_size_check = ON");
  db.exec("PRAGMA mmap_size = 0");
  db.exec("PRAGMA synchronous = FULL");
  // The same rollback journal, emptied instead of removed: two syncs of the folder less per commit.
  // A file that somebody has put in WAL mode stays in it.
  if (db.execAndGet("PRAGMA journal_mode").getString() == "delete") {
    db.exec("PRAGMA journal_mode = TRUNCATE");
  }
}

bool has_no_table(SQLite::Database& db) {
  return db.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
}

// Of many creators one makes the tables. Killed in the middle it leaves a file that is empty, or
// becomes so when it is opened and its journal is rolled back: the next one makes them.
void make_tables(SQLite::Database& db) {
  db.exec("BEGIN IMMEDIATE");
  if (has_no_table(db)) db.exec(study_tables(sql::Dialect::sqlite));
  db.exec("COMMIT");
}

void sync_folder(const fs::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

// "" where Optuna was older than revisions are.
std::string revision_of(SQLite::Database& db) {
  if (!db.tableExists("alembic_version")) return {};
  SQLite::Statement revision(db, "SELECT version_num FROM alembic_version");
  return revision.executeStep() ? revision.getColumn(0).getString() : "";
}

void require_tables(SQLite::Database& db, const std::string& path) {
  SQLite::Statement tables(
      db,
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('studies', "
      "'study_directions', 'study_user_attributes', 'study_system_attributes', 'trials', "
      "'trial_params', 'trial_values', 'trial_intermediate_values', 'trial_user_attributes', "
      "'trial_system_attributes', 'trial_heartbeats', 'alembic_version')");
  tables.executeStep();
  const bool has_all = tables.getColumn(0).getInt() == 12;
  if (!has_all && !(db.tableExists("studies") && db.tableExists("trials"))) {
    throw other_kind(beginning_of(path), path, "a database of studies");
  }
  require_study_revision(revision_of(db), path);  // says so of older tables
  if (!has_all) {
    throw refused("tables of Optuna's are missing beside its studies", path,
                  "restore the file from a copy");
  }
}

void judge(SQLite::Database& db, const std::string& path) {
  require_tables(db, path);
  require_no_code(db, path);
}

}  // namespace

void remove_empty_journal(SQLite::Database& db) noexcept {
  try {
    sqlite3_busy_timeout(db.getHandle(), 0);
    if (db.execAndGet("PRAGMA journal_mode").getString() == "truncate") {
      db.exec("PRAGMA journal_mode = DELETE");
    }
  } catch (...) {
    // It is empty and hurts nobody; the next one that closes the file tries again.
  }
}

void require_no_code(SQLite::Database& db, const std::string& path) {
  SQLite::Statement code(
      db, "SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY name");
  if (!code.executeStep()) return;
  const std::string type = code.getColumn(0).getString(), name = code.getColumn(1).getString();
  throw refused("this file has a " + type + " '" + name.substr(0, 60) +
                    "'; beside studies there may be further tables, but no triggers and no views",
                path, "'halmark salvage " + path + " NEW' copies the studies into a new file");
}

bool is_study_damage(const SQLite::Exception& e) {
  if (e.getExtendedErrorCode() == SQLITE_IOERR_SHORT_READ) return true;
  const int code = e.getErrorCode();
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_FORMAT ||
         code == SQLITE_TOOBIG || code == SQLITE_ERROR;
}

Error damaged_study(SQLite::Database* db, const SQLite::Exception& e, const std::string& path) {
  std::string place;
  try {
    if (db != nullptr) place = db->execAndGet("PRAGMA quick_check(1)").getString();
  } catch (const SQLite::Exception&) {
    place.clear();  // the check met what it was to describe
  }
  const bool is_known = !place.empty() && place != "ok";
  return refused(std::string("this file is damaged: ") + e.what() +
                     (is_known ? " (" + place + ')' : std::string()),
                 path, "'halmark salvage " + path + " NEW' copies the studies that can be read");
}

SQLite::Database open_study_file(const std::string& path, StudyAccess access, StudyTurn& turn) {
  try {
    const bool is_new = !has_content(path);
    const bool is_kept = path != ":memory:";
    if (!is_new) judge_header(path);
    const auto no_studies = [&] {
      return refused("there are no studies", path, "name another place with --study");
    };
    if (is_new && access == StudyAccess::existing) throw no_studies();
    const fs::path folder = fs::absolute(path).parent_path();
    if (is_new && is_kept) require_writable(path, "--study");
    SQLite::Database db(
        path, is_new ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE : SQLite::OPEN_READWRITE);
    configure(db, turn);
    if (has_no_table(db)) {
      if (access == StudyAccess::existing) throw no_studies();
      make_tables(db);
    }
    if (is_new && is_kept) sync_folder(folder);
    judge(db, path);
    return db;
  } catch (const SQLite::Exception& e) {
    if (is_study_damage(e)) throw damaged_study(nullptr, e, path);
    throw Error(ExitCode::error, std::string("the studies cannot be used: ") + e.what(), path);
  } catch (const fs::filesystem_error& e) {
    throw Error(ExitCode::error, std::string("the file cannot be used: ") + e.what(), path);
  }
}

}  // namespace halmark::journal
