#include "journal/file/open_file.hpp"

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "core/input/file_kind.hpp"
#include "core/text/error.hpp"
#include "core/text/sqlite_header.hpp"
#include "core/text/url.hpp"
#include "journal/file/damage.hpp"
#include "journal/file/log_check.hpp"
#include "journal/file/new_file.hpp"
#include "journal/file/own_schema.hpp"
#include "journal/rows/row_sql.hpp"
#include "journal/sqlite/schema.hpp"
#include "sql/sqlite_statements.hpp"

namespace halmark::journal {
namespace {

namespace fs = std::filesystem;

// Of new files. A row of a kernel has 2.7 KiB: pages of 4 KiB would hold one each, and a third of
// the file nothing.
constexpr int page_bytes = 16 << 10;

// A -wal of this size is copied back, as SQLite does for pages of 4 KiB.
constexpr int log_bytes = 4 << 20;

// No row of ours is near it: a length that a damaged page claims is refused before memory is taken.
constexpr int row_bytes_max = 256 << 20;

// The library opens what has the names of its own files, and would wait for ever for a FIFO. Ours
// have a -wal, never a rollback journal: what it has would be rolled back into the file.
void judge_side_files(const std::string& path) {
  for (const char* rest : {"-wal", "-shm", "-journal"}) {
    std::error_code code;
    const fs::file_status found = fs::status(path + rest, code);
    if (!fs::exists(found)) continue;
    if (!fs::is_regular_file(found)) {
      throw refused("this belongs to a database, and is no regular file", path + rest,
                    "move it away");
    }
    if (std::string_view(rest) == "-journal" && fs::file_size(path + rest, code) > 0) {
      throw refused("a rollback journal lies beside the database, which halmark never leaves",
                    path + rest, "move it away, or let sqlite3 open the database once");
    }
  }
}

// From its first bytes, before the library touches the file.
void judge_header(const std::string& path, Access access) {
  const auto header = read_sqlite_header(path);
  if (!header) {
    throw other_kind(beginning_of(path), path, "a results database");
  }
  if (header->application_id != static_cast<std::uint32_t>(journal_application_id)) {
    throw other_kind(beginning_of(path), path, "a results database");
  }
  const std::uint32_t version = header->user_version;
  if (version > schema_version) {
    throw refused("this database has schema " + std::to_string(version) +
                      "; this halmark knows up to " + std::to_string(schema_version),
                  path, "use a newer halmark");
  }
  if (version < oldest_schema_version) {
    throw refused(
        "this database has schema " + std::to_string(version) + ", which no halmark has written",
        path, "restore a backup");
  }
  if (access == Access::salvage) return;
  const std::uint64_t wanted = header->file_bytes;
  // A kill during a checkpoint leaves the new header before the last pages: those are still in the
  // -wal, and the library refuses the file when they are not.
  std::error_code absent;
  const std::uint64_t wal = fs::file_size(path + "-wal", absent);
  if ((absent || wal == 0) && fs::file_size(path) < wanted) {
    throw refused("this database is truncated: " + std::to_string(fs::file_size(path)) + " of " +
                      std::to_string(wanted) + " bytes",
                  path, salvage_remedy(path));
  }
  const std::string fault = fault_of_log(path + "-wal");
  if (!fault.empty()) throw damaged_file(fault, path);
}

bool has_content(const std::string& path) {
  std::error_code code;
  return fs::exists(path, code) && fs::file_size(path, code) > 0;
}

// The name appears only when the file is complete, so a kill leaves no half-made database.
void create(const std::string& path) {
  const fs::path folder = fs::absolute(path).parent_path();
  std::error_code code;
  fs::create_directories(folder, code);
  // One name: its user holds the writer role, so what is found there is the rest of a killed one.
  const std::string temporary = path + ".new";
  remove_database(temporary);
  make_empty(temporary);
  fs::rename(temporary, path);
  sync_folder_of(path);
}

void configure(SQLite::Database& db, Access access) {
  sqlite3* handle = db.getHandle();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  db.exec("PRAGMA busy_timeout = 5000");
  db.exec("PRAGMA foreign_keys = ON");
  db.exec("PRAGMA trusted_schema = OFF");
  db.exec("PRAGMA cell_size_check = ON");
  db.exec("PRAGMA mmap_size = 0");
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, row_bytes_max);
  if (access == Access::salvage) {
    // A connection that only reads may look past a wrong page count and a broken line of the
    // schema; the check of cells would take a whole page for the sake of one.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
    db.exec("PRAGMA cell_size_check = OFF");
    db.exec("PRAGMA writable_schema = ON");
  }
  if (access == Access::read_write) {
    db.exec("PRAGMA synchronous = FULL");
    const int page = db.execAndGet("PRAGMA page_size").getInt();
    db.exec("PRAGMA wal_autocheckpoint = " + std::to_string(log_bytes / page));
  } else {
    // Only the writer checkpoints: a commit that races another connection's checkpoint can lose
    // pages in SQLite 3.7.0 to 3.51.2.
    db.exec("PRAGMA wal_autocheckpoint = 0");
    sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
}

void copy_runs(SQLite::Database& db) {
  sql::SqliteStatements statements(db);
  statements.each("SELECT id, chain, " + run_columns() + " FROM run_before", {},
                  [&](const sql::Row& row) {
                    statements.insert(insert_run(sql::Dialect::sqlite),
                                      values_of(row[0].integer(), run_from(row, 2), row[1].text()));
                  });
}

// The file as it is, so that an older halmark, or a user in doubt, has it: "backups/FILE.schema-1"
// beside it, where backups are. It bears no time, so backups that come later displace it never.
void keep_older(SQLite::Database& db, const std::string& path) {
  const fs::path of = fs::absolute(path), folder = of.parent_path() / "backups";
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) {
    throw Error(ExitCode::error,
                "an older database is copied there before its schema changes, and the folder "
                "cannot be made: " +
                    code.message(),
                folder.string(), "make room for it, or move the database");
  }
  const std::string name =
      (folder / (of.filename().string() + ".schema-" + std::to_string(schema_version_of(db))))
          .string();
  std::string free = name;
  for (int i = 2; fs::exists(fs::symlink_status(free, code)); ++i) {
    free = name + '-' + std::to_string(i);
  }
  copy_database(db, free);
}

// To the present version: runs get their checksums, sample blocks their table. Of version 1 the
// entries move into a table without the list of kinds; ids stay, so checksums and chains hold. Rows
// keep their samples where they are: those are part of the chain.
void migrate(SQLite::Database& db) {
  const int version = schema_version_of(db);
  db.exec("PRAGMA foreign_keys = OFF");  // what an edited file has of orphans is verify's to say
  db.exec("PRAGMA legacy_alter_table = ON");  // entry goes on naming the table run
  db.exec("BEGIN IMMEDIATE");
  db.exec("ALTER TABLE run RENAME TO run_before");
  db.exec(run_table(schema_version));
  copy_runs(db);
  db.exec("DROP TABLE run_before");
  if (version == 1) {
    db.exec("ALTER TABLE entry RENAME TO entry_before");
    db.exec("DROP INDEX entry_by_key");
    db.exec("DROP INDEX entry_by_run");
    db.exec(entry_table(schema_version));
    db.exec("INSERT INTO entry SELECT * FROM entry_before");
    db.exec("DROP TABLE entry_before");
  }
  db.exec(std::string(sample_block_table));
  db.exec("PRAGMA user_version = " + std::to_string(schema_version));
  db.exec("COMMIT");
  db.exec("PRAGMA legacy_alter_table = OFF");
  db.exec("PRAGMA foreign_keys = ON");
}

}  // namespace

int schema_version_of(SQLite::Database& db) {
  return db.execAndGet("PRAGMA user_version").getInt();
}

void make_empty(const std::string& path) {
  SQLite::Database db(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec("PRAGMA page_size = " + std::to_string(page_bytes));
  db.exec("BEGIN");
  db.exec("PRAGMA application_id = " + std::to_string(journal_application_id));
  db.exec("PRAGMA user_version = " + std::to_string(schema_version));
  db.exec(tables_of(schema_version));
  db.exec("COMMIT");
  db.exec("PRAGMA journal_mode = WAL");
}

void judge_file(const std::string& path, Access access) {
  if (path.find("://") != std::string::npos) {
    const std::string scheme(url_scheme(path));
    throw refused("results cannot be kept at the URL '" + scheme + "://...'",
                  without_password(path),
                  suggestion(scheme, {"postgresql", "postgres", "postgresql+psycopg2"}) +
                      " - or name a file, which will be SQLite");
  }
  try {
    judge_side_files(path);
    if (has_content(path)) judge_header(path, access);
  } catch (const fs::filesystem_error& e) {
    throw Error(ExitCode::error, std::string("the database cannot be read: ") + e.what(), path);
  }
}

namespace {

void judge_connection(SQLite::Database& db, const std::string& path, Access access) {
  if (access == Access::read_write) {
    require_own_schema(db, path);  // of its own version, before the migration runs
    if (schema_version_of(db) != schema_version) {
      keep_older(db, path);
      migrate(db);
    }
  } else {
    require_tables(db, path, access != Access::salvage);
  }
  if (access != Access::salvage) db.execAndGet("SELECT count(*) FROM run");
}

}  // namespace

SQLite::Database open_file(const std::string& path, Access access) {
  judge_file(path, access);
  const bool exists = has_content(path);
  if (!exists && access != Access::read_write) {
    throw refused("there is no results database", path, "run halmark tune or name one with --db");
  }
  try {
    if (!exists) create(path);
    SQLite::Database db(
        path, access == Access::read_write ? SQLite::OPEN_READWRITE : SQLite::OPEN_READONLY);
    try {
      configure(db, access);
      judge_connection(db, path, access);
    } catch (const SQLite::Exception& e) {
      if (access == Access::salvage) throw;
      throw storage_error(&db, e, "the database cannot be used", path);
    }
    return db;
  } catch (const SQLite::Exception& e) {
    if (access == Access::salvage) throw;  // a salvage that cannot be is not to be advised
    throw storage_error(nullptr, e, "the database cannot be used", path);
  } catch (const fs::filesystem_error& e) {
    throw Error(ExitCode::error, std::string("the database cannot be made: ") + e.what(), path);
  }
}

}  // namespace halmark::journal
