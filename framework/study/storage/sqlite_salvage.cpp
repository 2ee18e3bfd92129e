// Row by row, so that a page that cannot be read takes no others with it.
#include "study/storage/sqlite_salvage.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fcntl.h>
#include <stdio.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/sqlite_header.hpp"
#include "core/text/text.hpp"
#include "study/storage/backends.hpp"
#include "study/storage/sqlite_file.hpp"
#include "study/values_json.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;
using namespace journal;

// A table, the column that names its row, and the one that names the row it belongs to.
struct Table {
  const char *name, *parent, *parent_column;
};
// Parents first.
constexpr Table tables[] = {
    {"studies", nullptr, nullptr},
    {"study_directions", "studies", "study_id"},
    {"study_user_attributes", "studies", "study_id"},
    {"study_system_attributes", "studies", "study_id"},
    {"trials", "studies", "study_id"},
    {"trial_params", "trials", "trial_id"},
    {"trial_values", "trials", "trial_id"},
    {"trial_intermediate_values", "trials", "trial_id"},
    {"trial_user_attributes", "trials", "trial_id"},
    {"trial_system_attributes", "trials", "trial_id"},
    {"trial_heartbeats", "trials", "trial_id"},
};

std::vector<std::string> columns_of(SQLite::Database& db, const std::string& table) {
  std::vector<std::string> out;
  SQLite::Statement query(db, "SELECT name FROM pragma_table_info('" + table + "') ORDER BY cid");
  while (query.executeStep()) out.push_back('"' + query.getColumn(0).getString() + '"');
  return out;
}

void add_rows(SQLite::Database& db, const std::string& sql, std::set<std::int64_t>& out) {
  try {
    SQLite::Statement query(db, sql);
    while (query.executeStep()) out.insert(query.getColumn(0).getInt64());
  } catch (const SQLite::Exception&) {
    // From the other end there may be more.
  }
}

// Why a reader of studies would refuse the row; values are those of `columns_of`.
std::string fault_of(const std::string& table, SQLite::Statement& row, const std::string& path) {
  try {
    if (table == "trials") state_of(row.getColumn("state").getString(), path);
    if (table == "trial_params") {
      parse_distribution(row.getColumn("distribution_json").getString(), path);
    }
    if (table == "trial_values") {
      const std::int64_t objective = row.getColumn("objective").getInt64();
      if (objective < 0 || objective >= objectives_max) {
        return "it is of objective " + std::to_string(objective);
      }
    }
    if (table == "study_directions") {
      const std::string name = row.getColumn("direction").getString();
      if (name != direction_name(direction_of(name))) return "its direction is '" + name + "'";
    }
    return {};
  } catch (const std::exception& e) {
    return e.what();
  }
}

class StudySalvage {
 public:
  StudySalvage(const std::string& from, const std::string& to)
      : from_(from), source_(from, SQLite::OPEN_READONLY), target_(to, SQLite::OPEN_READWRITE) {
    source_.exec("PRAGMA trusted_schema = OFF");
    source_.exec("PRAGMA mmap_size = 0");
    source_.exec("PRAGMA writable_schema = ON");  // looks past a wrong page count, and only reads
    target_.exec("PRAGMA foreign_keys = OFF");
  }

  SalvagedStudies run() {
    judge();
    target_.exec("BEGIN");
    for (const Table& table : tables) copy(table);
    target_.exec("COMMIT");
    out_.studies = target_.execAndGet("SELECT count(*) FROM studies").getInt64();
    out_.trials = target_.execAndGet("SELECT count(*) FROM trials").getInt64();
    return std::move(out_);
  }

 private:
  void judge() {
    SQLite::Statement known(source_,
                            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN "
                            "('studies', 'trials', 'alembic_version')");
    known.executeStep();
    if (known.getColumn(0).getInt() != 3) {
      throw refused("this database holds no studies of Optuna's present tables", from_,
                    "name another file");
    }
    SQLite::Statement revision(source_, "SELECT version_num FROM alembic_version");
    require_study_revision(revision.executeStep() ? revision.getColumn(0).getString() : "", from_);
    SQLite::Statement foreign(
        source_, "SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view')");
    while (foreign.executeStep()) {
      out_.left_out.push_back({"schema", 0,
                               "the file has a " + foreign.getColumn(0).getString() + " '" +
                                   foreign.getColumn(1).getString() + "'"});
    }
  }

  void copy(const Table& table) {
    const std::vector<std::string> columns = columns_of(target_, table.name);
    const std::string name = table.name, list = join(columns, ", ");
    std::string marks = "?";
    for (std::size_t i = 1; i < columns.size(); ++i) marks += ", ?";
    SQLite::Statement insert(target_,
                             "INSERT INTO " + name + '(' + list + ") VALUES (" + marks + ')');
    std::set<std::int64_t> rows;
    add_rows(source_, "SELECT rowid FROM " + name + " NOT INDEXED ORDER BY rowid", rows);
    add_rows(source_, "SELECT rowid FROM " + name + " NOT INDEXED ORDER BY rowid DESC", rows);
    try {
      SQLite::Statement query(source_, "SELECT " + list + " FROM " + name + " WHERE rowid = ?");
      for (const std::int64_t row : rows) copy_row(table, row, query, insert);
    } catch (const SQLite::Exception& e) {
      out_.left_out.push_back({name, 0, std::string("cannot be read: ") + e.what()});
    }
  }

  void copy_row(const Table& table, std::int64_t row, SQLite::Statement& query,
                SQLite::Statement& insert) {
    std::string fault;
    try {
      query.bind(1, row);
      if (query.executeStep()) {
        fault = fault_of(table.name, query, from_);
        if (fault.empty() && !has_parent(table, query)) fault = "what it belongs to is not there";
        if (fault.empty()) store(query, insert);
      }
    } catch (const SQLite::Exception& e) {
      fault = std::string("cannot be read or is no such row: ") + e.what();
    }
    query.tryReset();
    insert.tryReset();
    if (!fault.empty()) out_.left_out.push_back({table.name, row, fault});
  }

  bool has_parent(const Table& table, SQLite::Statement& row) {
    if (table.parent == nullptr) return true;
    SQLite::Statement parent(target_, std::string("SELECT 1 FROM ") + table.parent + " WHERE " +
                                          table.parent_column + " = ?");
    parent.bind(1, row.getColumn(table.parent_column).getInt64());
    return parent.executeStep();
  }

  static void store(SQLite::Statement& row, SQLite::Statement& insert) {
    insert.clearBindings();
    for (const int i : below(row.getColumnCount())) {
      const SQLite::Column value = row.getColumn(i);
      if (value.isNull()) continue;
      if (value.isInteger()) insert.bind(i + 1, value.getInt64());
      if (value.isFloat()) insert.bind(i + 1, value.getDouble());
      if (value.isText() || value.isBlob()) insert.bind(i + 1, value.getString());
    }
    insert.exec();
  }

  const std::string& from_;
  SQLite::Database source_, target_;
  SalvagedStudies out_;
};

void remove_file(const std::string& path) {
  std::error_code ignored;
  for (const char* rest : {"", "-journal", "-wal", "-shm"}) fs::remove(path + rest, ignored);
}

Error name_is_taken(const std::string& name) {
  return refused("this file exists, and is not overwritten", name, "name another one");
}

SalvagedStudies copied(const std::string& from, const std::string& to) {
  open_study_store("sqlite:" + to, StudyAccess::or_create);
  SalvagedStudies out = StudySalvage(from, to).run();
  // As every command reads it: what would be refused there is no salvage.
  const auto store = open_study_store("sqlite:" + to, StudyAccess::existing);
  for (const StudySummary& study : store->list()) {
    TrialCursor cursor;
    store->trials(study.info.id, cursor);
  }
  return out;
}

}  // namespace

bool may_hold_studies(const std::string& path) {
  const auto header = read_sqlite_header(path);
  return header && header->application_id == 0;
}

SalvagedStudies salvage_studies(const std::string& from, const std::string& to) {
  std::error_code code;
  if (fs::exists(fs::symlink_status(to, code))) throw name_is_taken(to);
  const std::string temporary = to + ".new";
  remove_file(temporary);
  try {
    SalvagedStudies out = copied(from, temporary);
    if (renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0) {
      if (errno == EEXIST) throw name_is_taken(to);
      throw Error(ExitCode::error, std::string("the file cannot be made: ") + std::strerror(errno),
                  to);
    }
    return out;
  } catch (const SQLite::Exception& e) {
    remove_file(temporary);
    if (is_study_damage(e)) {
      throw refused(std::string("nothing can be read of this file: ") + e.what(), from,
                    "restore a backup");
    }
    throw Error(ExitCode::error, std::string("the copy cannot be made: ") + e.what(), to);
  } catch (...) {
    remove_file(temporary);
    throw;
  }
}

}  // namespace halmark
