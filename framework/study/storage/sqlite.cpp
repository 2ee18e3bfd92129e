// Studies in a SQLite file: rollback journal, FULL, one short immediate transaction per change.
#include <sqlite3.h>

#include <filesystem>

#include "core/text/error.hpp"
#include "study/storage/sqlite_file.hpp"
#include "study/storage/sqlite_reader.hpp"

namespace halmark::journal {
namespace {

class SqliteStudies : public StudyStore, private StudyTransaction {
 public:
  SqliteStudies(std::string location, std::string path, StudyAccess access)
      : location_(std::move(location)),
        path_(std::move(path)),
        db_(open_study_file(path_, access, turn_)) {
    schema_cookie_ = schema_cookie();
  }

  ~SqliteStudies() override {
    try {
      require_in_place("");  // a journal of this name may be another database's
      remove_empty_journal(db_);
    } catch (...) {
      // Nothing is lost: only an empty file may stay.
    }
  }

  std::string_view location() const override { return location_; }

  std::vector<StudySummary> list() override {
    return reading([&] { return reader_.list(); });
  }

  std::vector<TrialRow> trials(std::int64_t study, TrialCursor& cursor) override {
    return reading([&] { return reader_.trials(study, cursor); });
  }

  void transact(const std::function<void(StudyTransaction&)>& body) override {
    // Before too: the rollback journal has its name from the path, where another database may be.
    require_in_place("the last change is not stored; all before it");
    transaction("BEGIN IMMEDIATE", [&] {
      require_same_schema();
      body(*this);
    });
    require_in_place("no trial is lost: all");
  }

 private:
  // One state of the file for several queries; a transaction has that already.
  template <class Body>
  auto reading(Body body) -> decltype(body()) {
    if (in_transaction_) return body();
    decltype(body()) out;
    transaction("BEGIN", [&] { out = body(); });
    return out;
  }

  void transaction(const char* begin, const std::function<void()>& body) {
    try {
      db_.exec(begin);
      in_transaction_ = true;
      body();
      db_.exec("COMMIT");
      in_transaction_ = false;
    } catch (const SQLite::Exception& e) {
      roll_back();
      throw error_of(e);
    } catch (...) {
      roll_back();
      throw;
    }
  }

  void roll_back() {
    in_transaction_ = false;
    if (sqlite3_get_autocommit(db_.getHandle()) == 0) {
      sqlite3_exec(db_.getHandle(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
  }

  int schema_cookie() { return db_.execAndGet("PRAGMA schema_version").getInt(); }

  // Within the transaction: whoever added a table or a trigger has done so before this look.
  void require_same_schema() {
    const int now = schema_cookie();
    if (now == schema_cookie_) return;
    require_no_code(db_, path_);
    schema_cookie_ = now;
  }

  // SQLite looks for itself only when it opens its rollback journal, which stays open.
  void require_in_place(const char* what_is_kept) {
    int has_moved = 0;
    sqlite3_file_control(db_.getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
    if (has_moved == 0) return;
    const std::string what = "this file was deleted, moved or replaced while it was written";
    std::string kept = path_ + ".rescued";
    for (int i = 2; std::filesystem::exists(kept); ++i) {
      kept = path_ + ".rescued-" + std::to_string(i);
    }
    try {
      SQLite::Statement copy(db_, "VACUUM INTO ?");
      copy.bind(1, kept);
      copy.exec();
    } catch (const SQLite::Exception& e) {
      throw Error(
          ExitCode::error, what, path_,
          std::string("its trials are lost, because they could not be copied: ") + e.what());
    }
    throw Error(ExitCode::error, what, path_, std::string(what_is_kept) + " is in " + kept);
  }

  Error error_of(const SQLite::Exception& e) {
    if (is_study_damage(e)) return damaged_study(&db_, e, path_);
    if (e.getExtendedErrorCode() == SQLITE_READONLY_DBMOVED) {
      return {ExitCode::error, "this file was deleted, moved or replaced while it was open", path_,
              "the last change is not stored; name the file anew"};
    }
    switch (e.getErrorCode()) {
      case SQLITE_BUSY:
        return {ExitCode::error, "another process holds this file for more than a minute", path_,
                "end it, or keep the studies in PostgreSQL"};
      case SQLITE_READONLY:
        return refused("this file must not be written", path_);
      default:
        return {ExitCode::error, std::string("the study could not be stored: ") + e.what(), path_,
                "free space there and start again: what was stored before is complete"};
    }
  }

  std::optional<StudyInfo> find(std::string_view name) override {
    const std::string text(name);
    const auto query = sql_.query("SELECT study_id FROM studies WHERE study_name = ?", text);
    if (!query.step()) return std::nullopt;
    return reader_.info_of(query.integer(0));
  }

  StudyInfo create_study(const StudyInfo& study) override {
    StudyInfo out = study;
    sql_.run("INSERT INTO studies(study_name) VALUES (?)", study.name);
    out.id = db_.getLastInsertRowid();
    for (std::size_t i = 0; i < study.directions.size(); ++i) {
      sql_.run("INSERT INTO study_directions(direction, study_id, objective) VALUES (?, ?, ?)",
               direction_name(study.directions[i]), out.id, static_cast<int>(i));
    }
    set_attributes(out.id, study.user, study.system);
    return out;
  }

  void set_attributes(std::int64_t study, const Attributes& user,
                      const Attributes& system) override {
    for (const auto& [key, text] : user) {
      sql_.run(
          "INSERT INTO study_user_attributes(study_id, key, value_json) VALUES (?, ?, ?) ON "
          "CONFLICT(study_id, key) DO UPDATE SET value_json = excluded.value_json",
          study, key, text);
    }
    for (const auto& [key, text] : system) {
      sql_.run(
          "INSERT INTO study_system_attributes(study_id, key, value_json) VALUES (?, ?, ?) ON "
          "CONFLICT(study_id, key) DO UPDATE SET value_json = excluded.value_json",
          study, key, text);
    }
  }

  void create(std::int64_t study, std::span<TrialRow> rows) override {
    int next = next_number(study);
    const std::string now = utc_microseconds_now();
    for (TrialRow& row : rows) {
      row.number = next++;
      if (row.state != TrialState::waiting && row.started_utc.empty()) row.started_utc = now;
      if (is_finished(row.state) && row.completed_utc.empty()) row.completed_utc = now;
      const std::string state(state_name(row.state));
      sql_.run(
          "INSERT INTO trials(number, study_id, state, datetime_start, datetime_complete) VALUES "
          "(?, ?, ?, ?, ?)",
          row.number, study, state, TextOrNull{row.started_utc}, TextOrNull{row.completed_utc});
      row.id = db_.getLastInsertRowid();
      store_details(row.id, row.params, row.values, row.user, row.system);
      for (const auto& [step, value] : row.intermediate) {
        sql_.run(
            "INSERT INTO trial_intermediate_values(trial_id, step, intermediate_value, "
            "intermediate_value_type) VALUES (?, ?, ?, ?)",
            row.id, step, value, value_type_name(value));
      }
    }
  }

  // Nobody else writes meanwhile, so the numbers of a study have no gaps.
  int next_number(std::int64_t study) {
    const auto last = sql_.query(
        "SELECT number FROM trials WHERE study_id = ? ORDER BY trial_id DESC LIMIT 1", study);
    return last.step() ? static_cast<int>(last.integer(0)) + 1 : 0;
  }

  void store_details(std::int64_t id, const std::vector<TrialParam>& params,
                     const std::vector<double>& values, const Attributes& user,
                     const Attributes& system) {
    for (const TrialParam& param : params) {
      sql_.run(
          "INSERT INTO trial_params(trial_id, param_name, param_value, distribution_json) VALUES "
          "(?, ?, ?, ?) ON CONFLICT(trial_id, param_name) DO UPDATE SET param_value = "
          "excluded.param_value, distribution_json = excluded.distribution_json",
          id, param.name, param.internal, texts_.text(param.distribution));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      sql_.run(
          "INSERT INTO trial_values(trial_id, objective, value, value_type) VALUES (?, ?, ?, ?) ON "
          "CONFLICT(trial_id, objective) DO UPDATE SET value = excluded.value, value_type = "
          "excluded.value_type",
          id, static_cast<int>(i), values[i], value_type_name(values[i]));
    }
    for (const auto& [key, text] : user) {
      sql_.run(
          "INSERT INTO trial_user_attributes(trial_id, key, value_json) VALUES (?, ?, ?) ON "
          "CONFLICT(trial_id, key) DO UPDATE SET value_json = excluded.value_json",
          id, key, text);
    }
    for (const auto& [key, text] : system) {
      sql_.run(
          "INSERT INTO trial_system_attributes(trial_id, key, value_json) VALUES (?, ?, ?) ON "
          "CONFLICT(trial_id, key) DO UPDATE SET value_json = excluded.value_json",
          id, key, text);
    }
  }

  void change(std::span<const TrialChange> changes) override {
    for (const TrialChange& c : changes) {
      store_details(c.id, c.params, c.values, c.user, c.system);
      reader_.changed(c.id);
      if (!c.state) continue;
      const std::string state(state_name(*c.state)), now = utc_microseconds_now();
      if (is_finished(*c.state)) {
        sql_.run("UPDATE trials SET state = ?, datetime_complete = ? WHERE trial_id = ?", state,
                 now, c.id);
      } else {
        sql_.run("UPDATE trials SET state = ?, datetime_start = ? WHERE trial_id = ?", state, now,
                 c.id);
      }
    }
  }

  void beat(std::span<const std::int64_t> ids) override {
    for (const std::int64_t id : ids) {
      sql_.run(
          "INSERT INTO trial_heartbeats(trial_id, heartbeat) VALUES (?, CURRENT_TIMESTAMP) ON "
          "CONFLICT(trial_id) DO UPDATE SET heartbeat = CURRENT_TIMESTAMP",
          id);
    }
  }

  std::vector<TrialLease> leases(std::span<const std::int64_t> ids) override {
    return reader_.leases(ids);
  }

  std::string location_, path_;
  StudyTurn turn_;
  SQLite::Database db_;
  SqliteStatements sql_{db_};
  DistributionTexts texts_{path_};
  SqliteStudyReader reader_{sql_, texts_, path_};
  bool in_transaction_ = false;
  int schema_cookie_ = 0;
};

}  // namespace

std::unique_ptr<StudyStore> open_sqlite_studies(const std::string& location,
                                                const std::string& path, StudyAccess access) {
  return std::make_unique<SqliteStudies>(location, path, access);
}

}  // namespace halmark::journal
