#include "study/storage/sql_studies.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "study/storage/backends.hpp"
#include "study/storage/tables.hpp"

namespace halmark::journal {
namespace {

// For {in_ids}.
template <class Ids, class Id = std::identity>
std::string id_list(sql::Dialect dialect, const Ids& ids, Id id = {}) {
  const bool is_sqlite = dialect == sql::Dialect::sqlite;
  std::string out = is_sqlite ? "[" : "{";
  for (const auto& item : ids) {
    if (out.size() > 1) out += ',';
    out += std::to_string(std::invoke(id, item));
  }
  return out += is_sqlite ? ']' : '}';
}

// Only finite numbers are stored as such: the type beside them says what else they are.
sql::Value finite(double value) { return std::isfinite(value) ? sql::Value(value) : sql::Value(); }
sql::Value text_or_null(const std::string& text) {
  return text.empty() ? sql::Value() : sql::Value(text);
}
// Of a value and the type in the column behind it.
double value_at(const sql::Row& row, std::size_t column) {
  return typed_value(row[column].is_null(), row[column].number(), row[column + 1].text());
}

// Rows beside `trials`, one behind the other.
struct Details {
  std::vector<sql::Value> params, values, steps, user, system;

  void add(std::int64_t id, const std::vector<TrialParam>& of,
           const std::vector<double>& objectives, const Attributes& user_attributes,
           const Attributes& system_attributes, DistributionTexts& texts) {
    for (const TrialParam& param : of) {
      put(params, {id, param.name, finite(param.internal), texts.text(param.distribution)});
    }
    for (const auto i : indices(objectives)) {
      put(values, {id, i, finite(objectives[i]), value_type_name(objectives[i])});
    }
    for (const auto& [key, text] : user_attributes) put(user, {id, key, text});
    for (const auto& [key, text] : system_attributes) put(system, {id, key, text});
  }
  static void put(std::vector<sql::Value>& to, std::initializer_list<sql::Value> row) {
    to.insert(to.end(), row);
  }
};

class SqlStudies : public StudyStore, private StudyTransaction {
 public:
  SqlStudies(std::unique_ptr<sql::Session> session, std::string location)
      : session_(std::move(session)), location_(std::move(location)) {}

  std::string_view location() const override { return location_; }

  std::vector<StudySummary> list() override {
    std::vector<StudySummary> out;
    session_->read([&] {
      for (const sql::Row& row : exec("SELECT study_id FROM studies ORDER BY study_id")) {
        out.push_back({.info = info_of(row[0].integer())});
      }
      for (const sql::Row& row :
           exec("SELECT study_id, state, count(*) FROM trials GROUP BY study_id, state")) {
        const std::int64_t study = row[0].integer();
        auto* it = find_or_null(out, study, [](const auto& s) { return s.info.id; });
        if (!it) continue;
        const TrialState state = state_of(row[1].text(), session_->location());
        it->counts[as_size(state)] = row[2].integer();
      }
    });
    return out;
  }

  std::vector<TrialRow> trials(std::int64_t study, TrialCursor& cursor) override {
    std::vector<TrialRow> out;
    session_->read([&] {
      out = changed_rows(cursor);
      each(
          "SELECT trial_id, number, state, {started}, {completed} FROM trials WHERE study_id = ? "
          "AND trial_id > ? ORDER BY trial_id",
          {study, cursor.last_id}, [&](const sql::Row& row) { out.push_back(trial_of(row)); });
      load(out, cursor.last_id < 0);
    });
    for (const TrialRow& row : out) cursor.see(row);
    std::ranges::stable_sort(out, {}, &TrialRow::number);
    return out;
  }

  void transact(const std::function<void(StudyTransaction&)>& body) override {
    session_->write([&] { body(*this); });
  }

 private:
  template <class... Values>
  sql::Rows exec(std::string_view text, const Values&... values) {
    return session_->exec(study_sql(text, session_->dialect()), values...);
  }
  void each(std::string_view text, std::initializer_list<sql::Value> values,
            const sql::Visit& visit) {
    session_->each(study_sql(text, session_->dialect()), {values.begin(), values.size()}, visit);
  }
  std::vector<std::int64_t> insert(std::string_view text, std::span<const sql::Value> values) {
    if (values.empty()) return {};
    return session_->insert(study_sql(text, session_->dialect()), values);
  }

  StudyInfo info_of(std::int64_t id) {
    StudyInfo out{.id = id};
    each("SELECT study_name FROM studies WHERE study_id = ?", {id},
         [&](const sql::Row& row) { out.name = row[0].text(); });
    each("SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective", {id},
         [&](const sql::Row& row) {
           const std::string& name = row[0].text();
           out.directions.push_back(direction_of(name));
           if (name == direction_name(out.directions.back())) return;
           throw refused("study '" + out.name + "' has the unknown direction '" + name + "'",
                         session_->location(), "restore a backup");
         });
    out.user = attributes("study", "user", id);
    out.system = attributes("study", "system", id);
    return out;
  }

  // `of`: study or trial; `whose`: user or system.
  Attributes attributes(const std::string& of, const std::string& whose, std::int64_t id) {
    Attributes out;
    each("SELECT key, value_json FROM " + of + '_' + whose + "_attributes WHERE " + of +
             "_id = ? ORDER BY " + of + '_' + whose + "_attribute_id",
         {id}, [&](const sql::Row& row) { out.emplace_back(row[0].text(), row[1].text()); });
    return out;
  }
  void store_attributes(const std::string& of, const std::string& whose,
                        std::span<const sql::Value> rows) {
    insert("INSERT INTO " + of + '_' + whose + "_attributes(" + of +
               "_id, key, value_json) VALUES (?, ?, ?) ON CONFLICT(" + of +
               "_id, key) DO UPDATE SET value_json = excluded.value_json",
           rows);
  }

  TrialRow trial_of(const sql::Row& row) {
    return {.id = row[0].integer(),
            .number = as_int(row[1].integer()),
            .state = state_of(row[2].text(), session_->location()),
            .started_utc = row[3].text(),
            .completed_utc = row[4].text()};
  }

  // Unfinished trials of the cursor that changed; a finished one changes no more. All of them are
  // looked at only where another connection may have written since: looking at each of many running
  // ones would make every ask as expensive as they are many.
  std::vector<TrialRow> changed_rows(TrialCursor& cursor) {
    std::vector<std::int64_t> suspects;
    const std::int64_t version = version_of_others();
    if (version < 0 || version != cursor.version || cursor.log_at < 0) {
      for (const auto& [id, seen] : cursor.unfinished) suspects.push_back(id);
    } else {
      for (auto at = as_size(cursor.log_at); at < log_.size(); ++at) {
        if (cursor.unfinished.contains(log_[at])) suspects.push_back(log_[at]);
      }
    }
    cursor.version = version;
    cursor.log_at = std::ssize(log_);
    std::vector<TrialRow> out;
    if (suspects.empty()) return out;
    each(
        "SELECT trial_id, number, state, {started}, {completed}, (SELECT count(*) FROM "
        "trial_params p WHERE p.trial_id = t.trial_id) FROM trials t WHERE trial_id {in_ids} ORDER "
        "BY trial_id",
        {id_list(session_->dialect(), suspects)}, [&](const sql::Row& row) {
          TrialRow trial = trial_of(row);
          const TrialCursor::Seen& seen = cursor.unfinished.at(trial.id);
          const auto params = as_size(row[5].integer());
          if (trial.state != seen.state || params != seen.params) out.push_back(std::move(trial));
        });
    return out;
  }

  // Another one than before: another connection wrote the file. -1: nobody says so.
  std::int64_t version_of_others() {
    if (session_->dialect() != sql::Dialect::sqlite) return -1;
    return exec("PRAGMA data_version").at(0).at(0).integer();
  }

  // Fills `rows`, which are in order of their ids, from the tables beside `trials`. `is_first`: of
  // a file whole tables in the order of their rows are cheaper than an index.
  void load(std::vector<TrialRow>& rows, bool is_first) {
    if (rows.empty()) return;
    const bool is_whole = is_first && session_->dialect() == sql::Dialect::sqlite;
    const std::string ids = is_whole ? "" : id_list(session_->dialect(), rows, &TrialRow::id);
    const auto beside = [&](const std::string& columns, const std::string& order, auto add) {
      std::size_t at = 0;
      const sql::Visit visit = [&](const sql::Row& row) {
        const std::int64_t id = row[0].integer();
        if (rows[at].id != id) {  // rows of other studies lie between
          const auto it = std::ranges::lower_bound(rows, id, {}, &TrialRow::id);
          if (it == rows.end() || it->id != id) return;
          at = as_size(it - rows.begin());
        }
        add(rows[at], row);
      };
      const std::string text = "SELECT trial_id, " + columns;
      if (is_whole) return each(text + " ORDER BY " + order, {}, visit);
      each(text + " WHERE trial_id {in_ids} ORDER BY " + order, {ids}, visit);
    };
    const auto attribute = [](Attributes TrialRow::*to) {
      return [to](TrialRow& trial, const sql::Row& row) {
        (trial.*to).emplace_back(row[1].text(), row[2].text());
      };
    };
    beside("param_name, param_value, distribution_json FROM trial_params", "param_id",
           [&](TrialRow& trial, const sql::Row& row) {
             trial.params.push_back({row[1].text(), row[2].number(), texts_.parsed(row[3].text())});
           });
    beside("objective, value, value_type FROM trial_values", "trial_value_id",
           [&](TrialRow& trial, const sql::Row& row) { add_value(trial, row); });
    beside("step, intermediate_value, intermediate_value_type FROM trial_intermediate_values",
           "step", [](TrialRow& trial, const sql::Row& row) {
             trial.intermediate.emplace_back(row[1].integer(), value_at(row, 2));
           });
    beside("key, value_json FROM trial_user_attributes", "trial_user_attribute_id",
           attribute(&TrialRow::user));
    beside("key, value_json FROM trial_system_attributes", "trial_system_attribute_id",
           attribute(&TrialRow::system));
  }

  void add_value(TrialRow& trial, const sql::Row& row) {
    const auto objective = as_size(row[1].integer());
    if (objective >= as_size(objectives_max)) {
      throw refused("trial " + std::to_string(trial.number) + " has a value of objective " +
                        std::to_string(row[1].integer()),
                    session_->location(), "restore a backup");
    }
    if (trial.values.size() <= objective) trial.values.resize(objective + 1);
    trial.values[objective] = value_at(row, 2);
  }

  std::optional<StudyInfo> find(std::string_view name) override {
    const sql::Rows found = exec("SELECT study_id FROM studies WHERE study_name = ?", name);
    if (found.empty()) return std::nullopt;
    return info_of(found[0][0].integer());
  }

  StudyInfo create_study(const StudyInfo& study) override {
    StudyInfo out = study;
    const sql::Value name = study.name;
    out.id =
        insert("INSERT INTO studies(study_name) VALUES (?) RETURNING study_id", {&name, 1}).at(0);
    std::vector<sql::Value> directions;
    for (std::size_t i = 0; i < study.directions.size(); ++i) {
      Details::put(directions, {direction_name(study.directions[i]), out.id, i});
    }
    insert("INSERT INTO study_directions(direction, study_id, objective) VALUES (?, ?, ?)",
           directions);
    set_attributes(out.id, study.user, study.system);
    return out;
  }

  void set_attributes(std::int64_t study, const Attributes& user,
                      const Attributes& system) override {
    Details details;
    details.add(study, {}, {}, user, system, texts_);
    store_attributes("study", "user", details.user);
    store_attributes("study", "system", details.system);
  }

  void store(const Details& details) {
    insert(
        "INSERT INTO trial_params(trial_id, param_name, param_value, distribution_json) VALUES (?, "
        "?, ?, ?) ON CONFLICT(trial_id, param_name) DO UPDATE SET param_value = "
        "excluded.param_value, distribution_json = excluded.distribution_json",
        details.params);
    insert(
        "INSERT INTO trial_values(trial_id, objective, value, value_type) VALUES (?, ?, ?, ?) ON "
        "CONFLICT(trial_id, objective) DO UPDATE SET value = excluded.value, value_type = "
        "excluded.value_type",
        details.values);
    insert(
        "INSERT INTO trial_intermediate_values(trial_id, step, intermediate_value, "
        "intermediate_value_type) VALUES (?, ?, ?, ?)",
        details.steps);
    store_attributes("trial", "user", details.user);
    store_attributes("trial", "system", details.system);
  }

  // The lock: nobody else creates trials meanwhile, so the numbers of a study have no gaps.
  int next_number(std::int64_t study) {
    exec("SELECT study_id FROM studies WHERE study_id = ? {lock}", study);
    const sql::Rows last =
        exec("SELECT number FROM trials WHERE study_id = ? ORDER BY trial_id DESC LIMIT 1", study);
    return last.empty() ? 0 : as_int(last[0][0].integer()) + 1;
  }

  void create(std::int64_t study, std::span<TrialRow> rows) override {
    int next = next_number(study);
    const std::string now = utc_microseconds_now();
    std::vector<sql::Value> trials;
    for (TrialRow& row : rows) {
      row.number = next++;
      if (row.state != TrialState::waiting && row.started_utc.empty()) row.started_utc = now;
      if (is_finished(row.state) && row.completed_utc.empty()) row.completed_utc = now;
      Details::put(trials, {row.number, study, state_name(row.state), text_or_null(row.started_utc),
                            text_or_null(row.completed_utc)});
    }
    const std::vector<std::int64_t> ids = insert(
        "INSERT INTO trials(number, study_id, state, datetime_start, datetime_complete) VALUES (?, "
        "?, ?, ?, ?) RETURNING trial_id",
        trials);
    Details details;
    std::vector<std::int64_t> running;
    for (const auto i : indices(rows)) {
      TrialRow& row = rows[i];
      row.id = ids.at(i);
      details.add(row.id, row.params, row.values, row.user, row.system, texts_);
      for (const auto& [step, value] : row.intermediate) {
        Details::put(details.steps, {row.id, step, finite(value), value_type_name(value)});
      }
      if (row.state == TrialState::running) running.push_back(row.id);
    }
    store(details);
    // On a server leases are by its clock, a start is by the worker's.
    if (session_->dialect() == sql::Dialect::postgresql) beat(running);
  }

  void change(std::span<const TrialChange> changes) override {
    Details details;
    for (const TrialChange& c : changes) {
      details.add(c.id, c.params, c.values, c.user, c.system, texts_);
      log_.push_back(c.id);
    }
    store(details);
    for (const TrialChange& c : changes) {
      if (!c.state) continue;
      const std::string column = is_finished(*c.state) ? "datetime_complete" : "datetime_start";
      exec("UPDATE trials SET state = ?, " + column + " = ? WHERE trial_id = ?",
           state_name(*c.state), utc_microseconds_now(), c.id);
    }
  }

  void beat(std::span<const std::int64_t> ids) override {
    const std::vector<sql::Value> trials(ids.begin(), ids.end());
    insert(
        "INSERT INTO trial_heartbeats(trial_id, heartbeat) VALUES (?, {now}) ON CONFLICT(trial_id) "
        "DO UPDATE SET heartbeat = excluded.heartbeat",
        trials);
  }

  std::vector<TrialLease> leases(std::span<const std::int64_t> ids) override {
    std::vector<TrialLease> out;
    for (const std::int64_t id : ids) {
      const sql::Rows found = exec(
          "SELECT state, {beat_age_s} FROM trials t LEFT JOIN trial_heartbeats h ON h.trial_id = "
          "t.trial_id WHERE t.trial_id = ? {lock_trial}",
          id);
      if (found.empty()) continue;
      TrialLease lease{.id = id, .state = state_of(found[0][0].text(), session_->location())};
      if (!found[0][1].is_null()) lease.beat_age_s = found[0][1].number();
      lease.system = attributes("trial", "system", id);
      if (const auto* owner = find_attribute(lease.system, worker_attribute)) lease.owner = *owner;
      out.push_back(std::move(lease));
    }
    return out;
  }

  std::unique_ptr<sql::Session> session_;
  std::string location_;
  DistributionTexts texts_{session_->location()};
  std::vector<std::int64_t> log_;  // trials that this connection changed, oldest first
};

}  // namespace

std::unique_ptr<StudyStore> studies_in(std::unique_ptr<sql::Session> session,
                                       std::string location) {
  return std::make_unique<SqlStudies>(std::move(session), std::move(location));
}

}  // namespace halmark::journal
