// Studies in a PostgreSQL server: Optuna's tables, a transaction per change, a statement per table
// however many trials it holds. Sole user of libpqxx.
#include <pqxx/pqxx>

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/text/error.hpp"
#include "core/version.hpp"
#include "study/storage/backends.hpp"
#include "study/storage/tables.hpp"

namespace halmark::journal {
namespace {

// Halmark's writers queue here; Optuna's at the row of the study, which `create` locks too.
constexpr const char* take_turn = "SELECT pg_advisory_xact_lock(1212238155, 1)";
constexpr auto reconnect_max = std::chrono::seconds(30);

// An array literal: one parameter for a column of many rows.
class Column {
 public:
  void add(std::string_view text) {
    begin_item() += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') text_ += '\\';
      text_ += c;
    }
    text_ += '"';
  }
  void add(std::int64_t value) { begin_item() += std::to_string(value); }
  // What is not finite is NULL: the type beside it says what it is.
  void add(double value) {
    begin_item() +=
        std::string_view(value_type_name(value)) == "FINITE" ? number_text(value) : "NULL";
  }
  void add_or_null(std::string_view text) {
    if (text.empty()) {
      begin_item() += "NULL";
    } else {
      add(text);
    }
  }
  bool empty() const { return text_.size() == 1; }
  std::string literal() const { return text_ + '}'; }

 private:
  std::string& begin_item() { return text_ += empty() ? "" : ","; }
  std::string text_ = "{";
};

// A password is nobody's business in a message.
std::string without_password(const std::string& url) {
  const std::size_t begin = url.find("://"), at = url.find('@');
  if (begin == std::string::npos || at == std::string::npos) return url;
  const std::size_t colon = url.find(':', begin + 3);
  return colon < at ? url.substr(0, colon) + url.substr(at) : url;
}

std::string text_at(const pqxx::row& row, int column) {
  const pqxx::field field = row[column];
  return field.is_null() ? std::string() : std::string(field.c_str(), field.size());
}

double value_at(const pqxx::row& row, int column) {
  const pqxx::field field = row[column];
  return typed_value(field.is_null(), field.is_null() ? 0 : field.as<double>(),
                     row[column + 1].c_str());
}

class PostgresqlStudies : public StudyStore, private StudyTransaction {
 public:
  PostgresqlStudies(std::string url, StudyAccess access)
      : full_url_(std::move(url)), url_(without_password(full_url_)), texts_(url_) {
    guarded([&] {
      connect();
      prepare_tables(access);
    });
  }

  std::string_view location() const override { return url_; }

  std::vector<StudySummary> list() override {
    std::vector<StudySummary> out;
    within([&] {
      for (const pqxx::row& row : exec("SELECT study_id FROM studies ORDER BY study_id")) {
        out.push_back({.info = info_of(row[0].as<std::int64_t>())});
      }
      for (const pqxx::row& row :
           exec("SELECT study_id, state, count(*) FROM trials GROUP BY study_id, state")) {
        const auto study = row[0].as<std::int64_t>();
        const auto it = std::ranges::find(out, study, [](const auto& s) { return s.info.id; });
        if (it == out.end()) continue;
        const TrialState state = state_of(row[1].c_str(), url_);
        it->counts[static_cast<std::size_t>(state)] = row[2].as<std::int64_t>();
      }
    });
    return out;
  }

  std::vector<TrialRow> trials(std::int64_t study, TrialCursor& cursor) override {
    std::vector<TrialRow> out;
    within([&] { out = read_trials(study, cursor); });
    return out;
  }

  void transact(const std::function<void(StudyTransaction&)>& body) override {
    guarded([&] {
      begin();
      try {
        exec(take_turn);
        body(*this);
        work_->commit();
      } catch (...) {
        work_.reset();
        throw;
      }
      work_.reset();
    });
  }

 private:
  template <class... Values>
  pqxx::result exec(const char* sql, const Values&... values) {
#if PQXX_VERSION_MAJOR > 7 || (PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR >= 10)
    return work_->exec(sql, pqxx::params{values...});
#else
    return work_->exec_params(sql, values...);
#endif
  }

  // A transaction of its own unless one is open.
  void within(const std::function<void()>& body) {
    if (work_) return body();
    guarded([&] {
      begin();
      try {
        body();
      } catch (...) {
        work_.reset();
        throw;
      }
      work_.reset();
    });
  }

  void guarded(const std::function<void()>& body) {
    const std::string remedy = "what was acknowledged before is stored";
    try {
      body();
    } catch (const pqxx::in_doubt_error&) {
      throw Error(ExitCode::error, "the server was lost while it stored the last trials", url_,
                  "whether it has them shows when the study is opened again");
    } catch (const pqxx::broken_connection& e) {
      throw Error(ExitCode::error, std::string("the server cannot be reached: ") + e.what(), url_,
                  remedy);
    } catch (const pqxx::failure& e) {
      throw Error(ExitCode::error, std::string("the study could not be stored: ") + e.what(), url_,
                  remedy);
    }
  }

  void connect() {
    connection_ = std::make_unique<pqxx::connection>(full_url_);
    // What is said about tables that are made on purpose is of no use to anybody.
    pqxx::nontransaction(*connection_)
        .exec("SET TIME ZONE 'UTC'; SET client_min_messages = warning");
  }

  // A server that restarts is waited for; nothing is lost, because nothing has begun.
  void begin() {
    const auto deadline = std::chrono::steady_clock::now() + reconnect_max;
    for (auto pause = std::chrono::milliseconds(100);; pause *= 2) {
      try {
        if (!connection_) connect();
        work_ = std::make_unique<pqxx::work>(*connection_);
        exec("SELECT 1");
        return;
      } catch (const pqxx::broken_connection&) {
        work_.reset();
        connection_.reset();
        if (std::chrono::steady_clock::now() + pause > deadline) throw;
        std::this_thread::sleep_for(pause);
      }
    }
  }

  void prepare_tables(StudyAccess access) {
    begin();
    exec(take_turn);
    const bool exists = !exec("SELECT to_regclass('studies')")[0][0].is_null();
    if (!exists && access == StudyAccess::existing) {
      throw refused("this database holds no studies", url_, "name another place with --study");
    }
    if (exists) {
      const bool has_revision = !exec("SELECT to_regclass('alembic_version')")[0][0].is_null();
      const auto row =
          has_revision ? exec("SELECT version_num FROM alembic_version") : pqxx::result();
      require_study_revision(row.empty() ? "" : row[0][0].c_str(), url_);
    } else {
      work_->exec(std::string(postgresql_study_tables));
      exec("INSERT INTO version_info VALUES (1, $1, $2)", study_schema_version,
           std::string("halmark ") + tool_version);
      exec("INSERT INTO alembic_version VALUES ($1)", study_revision);
    }
    work_->commit();
    work_.reset();
  }

  StudyInfo info_of(std::int64_t id) {
    StudyInfo out{.id = id};
    out.name = text_at(exec("SELECT study_name FROM studies WHERE study_id = $1", id)[0], 0);
    for (const pqxx::row& row : exec(
             "SELECT direction FROM study_directions WHERE study_id = $1 ORDER BY objective", id)) {
      out.directions.push_back(direction_of(row[0].c_str()));
    }
    out.user = attributes(
        "SELECT key, value_json FROM study_user_attributes WHERE study_id = $1 ORDER BY "
        "study_user_attribute_id",
        id);
    out.system = attributes(
        "SELECT key, value_json FROM study_system_attributes WHERE study_id = $1 ORDER BY "
        "study_system_attribute_id",
        id);
    return out;
  }

  Attributes attributes(const char* sql, std::int64_t id) {
    Attributes out;
    for (const pqxx::row& row : exec(sql, id)) out.emplace_back(text_at(row, 0), text_at(row, 1));
    return out;
  }

  std::vector<TrialRow> read_trials(std::int64_t study, TrialCursor& cursor);

  std::optional<StudyInfo> find(std::string_view name) override {
    const auto found =
        exec("SELECT study_id FROM studies WHERE study_name = $1", std::string(name));
    if (found.empty()) return std::nullopt;
    return info_of(found[0][0].as<std::int64_t>());
  }

  StudyInfo create_study(const StudyInfo& study) override {
    StudyInfo out = study;
    out.id =
        exec("INSERT INTO studies(study_name) VALUES ($1) RETURNING study_id", study.name)[0][0]
            .as<std::int64_t>();
    for (std::size_t i = 0; i < study.directions.size(); ++i) {
      exec("INSERT INTO study_directions(direction, study_id, objective) VALUES ($1, $2, $3)",
           direction_name(study.directions[i]), out.id, static_cast<int>(i));
    }
    set_attributes(out.id, study.user, study.system);
    return out;
  }

  void set_attributes(std::int64_t study, const Attributes& user,
                      const Attributes& system) override {
    for (const auto& [key, text] : user) {
      exec(
          "INSERT INTO study_user_attributes(study_id, key, value_json) VALUES ($1, $2, $3) ON "
          "CONFLICT(study_id, key) DO UPDATE SET value_json = excluded.value_json",
          study, key, text);
    }
    for (const auto& [key, text] : system) {
      exec(
          "INSERT INTO study_system_attributes(study_id, key, value_json) VALUES ($1, $2, $3) ON "
          "CONFLICT(study_id, key) DO UPDATE SET value_json = excluded.value_json",
          study, key, text);
    }
  }

  // The rows beside `trials`, column by column.
  struct Details {
    Column param_trial, param_name, param_value, distribution;
    Column value_trial, objective, value, value_type;
    Column step_trial, step, step_value, step_type;
    Column user_trial, user_key, user_text, system_trial, system_key, system_text;
  };
  void add(Details& to, std::int64_t id, const std::vector<TrialParam>& params,
           const std::vector<double>& values, const Attributes& user, const Attributes& system);
  void store(const Details& details);

  void create(std::int64_t study, std::span<TrialRow> rows) override;
  void change(std::span<const TrialChange> changes) override;

  void beat(std::span<const std::int64_t> ids) override {
    Column trials;
    for (const std::int64_t id : ids) trials.add(id);
    if (trials.empty()) return;
    exec(
        "INSERT INTO trial_heartbeats(trial_id, heartbeat) SELECT unnest($1::int[]), "
        "clock_timestamp() ON CONFLICT(trial_id) DO UPDATE SET heartbeat = excluded.heartbeat",
        trials.literal());
  }

  std::vector<TrialLease> leases(std::span<const std::int64_t> ids) override {
    std::vector<TrialLease> out;
    for (const std::int64_t id : ids) {
      const auto found = exec(
          "SELECT state, EXTRACT(EPOCH FROM clock_timestamp() AT TIME ZONE 'UTC' - "
          "coalesce(heartbeat, datetime_start))::float8 FROM trials t LEFT JOIN trial_heartbeats h "
          "ON h.trial_id = t.trial_id WHERE t.trial_id = $1",
          id);
      if (found.empty()) continue;
      TrialLease lease{.id = id, .state = state_of(found[0][0].c_str(), url_)};
      if (!found[0][1].is_null()) lease.beat_age_s = found[0][1].as<double>();
      lease.system =
          attributes("SELECT key, value_json FROM trial_system_attributes WHERE trial_id = $1", id);
      if (const auto* owner = find_attribute(lease.system, worker_attribute)) lease.owner = *owner;
      out.push_back(std::move(lease));
    }
    return out;
  }

  std::string full_url_, url_;
  DistributionTexts texts_;
  std::unique_ptr<pqxx::connection> connection_;
  std::unique_ptr<pqxx::work> work_;
};

std::vector<TrialRow> PostgresqlStudies::read_trials(std::int64_t study, TrialCursor& cursor) {
  Column unfinished;
  for (const auto& [id, seen] : cursor.unfinished) unfinished.add(id);
  std::vector<TrialRow> out;
  // A finished trial changes no more: those of the cursor are all that may have.
  for (const pqxx::row& row :
       exec("SELECT trial_id, number, state, datetime_start, datetime_complete, (SELECT count(*) "
            "FROM trial_params p WHERE p.trial_id = t.trial_id) FROM trials t WHERE study_id = $1 "
            "AND (trial_id > $2 OR trial_id = ANY($3::int[])) ORDER BY trial_id",
            study, cursor.last_id, unfinished.literal())) {
    TrialRow value{.id = row[0].as<std::int64_t>(),
                   .number = row[1].as<int>(),
                   .state = state_of(row[2].c_str(), url_),
                   .started_utc = text_at(row, 3),
                   .completed_utc = text_at(row, 4)};
    const auto seen = cursor.unfinished.find(value.id);
    const bool is_known = seen != cursor.unfinished.end() && seen->second.state == value.state &&
                          seen->second.params == row[5].as<std::size_t>();
    if (!is_known) out.push_back(std::move(value));
  }
  Column ids;
  for (const TrialRow& row : out) ids.add(row.id);
  const auto each = [&](const char* sql, auto add) {
    if (out.empty()) return;
    for (const pqxx::row& row : exec(sql, ids.literal())) {
      add(*std::ranges::lower_bound(out, row[0].as<std::int64_t>(), {}, &TrialRow::id), row);
    }
  };
  each(
      "SELECT trial_id, param_name, param_value, distribution_json FROM trial_params WHERE "
      "trial_id "
      "= ANY($1::int[]) ORDER BY param_id",
      [&](TrialRow& to, const pqxx::row& row) {
        to.params.push_back({text_at(row, 1), row[2].as<double>(), texts_.parsed(row[3].c_str())});
      });
  each(
      "SELECT trial_id, objective, value, value_type FROM trial_values WHERE trial_id = "
      "ANY($1::int[])",
      [](TrialRow& to, const pqxx::row& row) {
        const auto objective = row[1].as<std::size_t>();
        if (to.values.size() <= objective) to.values.resize(objective + 1);
        to.values[objective] = value_at(row, 2);
      });
  each(
      "SELECT trial_id, step, intermediate_value, intermediate_value_type FROM "
      "trial_intermediate_values WHERE trial_id = ANY($1::int[]) ORDER BY step",
      [](TrialRow& to, const pqxx::row& row) {
        to.intermediate.emplace_back(row[1].as<std::int64_t>(), value_at(row, 2));
      });
  each(
      "SELECT trial_id, key, value_json FROM trial_user_attributes WHERE trial_id = ANY($1::int[]) "
      "ORDER BY trial_user_attribute_id",
      [](TrialRow& to, const pqxx::row& row) {
        to.user.emplace_back(text_at(row, 1), text_at(row, 2));
      });
  each(
      "SELECT trial_id, key, value_json FROM trial_system_attributes WHERE trial_id = "
      "ANY($1::int[]) ORDER BY trial_system_attribute_id",
      [](TrialRow& to, const pqxx::row& row) {
        to.system.emplace_back(text_at(row, 1), text_at(row, 2));
      });
  for (const TrialRow& row : out) cursor.see(row);
  std::ranges::stable_sort(out, {}, &TrialRow::number);
  return out;
}

void PostgresqlStudies::add(Details& to, std::int64_t id, const std::vector<TrialParam>& params,
                            const std::vector<double>& values, const Attributes& user,
                            const Attributes& system) {
  for (const TrialParam& param : params) {
    to.param_trial.add(id);
    to.param_name.add(param.name);
    to.param_value.add(param.internal);
    to.distribution.add(texts_.text(param.distribution));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    to.value_trial.add(id);
    to.objective.add(static_cast<std::int64_t>(i));
    to.value.add(values[i]);
    to.value_type.add(std::string_view(value_type_name(values[i])));
  }
  for (const auto& [key, text] : user) {
    to.user_trial.add(id);
    to.user_key.add(key);
    to.user_text.add(text);
  }
  for (const auto& [key, text] : system) {
    to.system_trial.add(id);
    to.system_key.add(key);
    to.system_text.add(text);
  }
}

void PostgresqlStudies::store(const Details& d) {
  if (!d.param_trial.empty()) {
    exec(
        "INSERT INTO trial_params(trial_id, param_name, param_value, distribution_json) SELECT * "
        "FROM unnest($1::int[], $2::text[], $3::float8[], $4::text[]) ON CONFLICT(trial_id, "
        "param_name) DO UPDATE SET param_value = excluded.param_value, distribution_json = "
        "excluded.distribution_json",
        d.param_trial.literal(), d.param_name.literal(), d.param_value.literal(),
        d.distribution.literal());
  }
  if (!d.value_trial.empty()) {
    exec(
        "INSERT INTO trial_values(trial_id, objective, value, value_type) SELECT * FROM "
        "unnest($1::int[], $2::int[], $3::float8[], $4::trialvaluetype[]) ON CONFLICT(trial_id, "
        "objective) DO UPDATE SET value = excluded.value, value_type = excluded.value_type",
        d.value_trial.literal(), d.objective.literal(), d.value.literal(), d.value_type.literal());
  }
  if (!d.step_trial.empty()) {
    exec(
        "INSERT INTO trial_intermediate_values(trial_id, step, intermediate_value, "
        "intermediate_value_type) SELECT * FROM unnest($1::int[], $2::int[], $3::float8[], "
        "$4::trialintermediatevaluetype[])",
        d.step_trial.literal(), d.step.literal(), d.step_value.literal(), d.step_type.literal());
  }
  if (!d.user_trial.empty()) {
    exec(
        "INSERT INTO trial_user_attributes(trial_id, key, value_json) SELECT * FROM "
        "unnest($1::int[], $2::text[], $3::text[]) ON CONFLICT(trial_id, key) DO UPDATE SET "
        "value_json = excluded.value_json",
        d.user_trial.literal(), d.user_key.literal(), d.user_text.literal());
  }
  if (!d.system_trial.empty()) {
    exec(
        "INSERT INTO trial_system_attributes(trial_id, key, value_json) SELECT * FROM "
        "unnest($1::int[], $2::text[], $3::text[]) ON CONFLICT(trial_id, key) DO UPDATE SET "
        "value_json = excluded.value_json",
        d.system_trial.literal(), d.system_key.literal(), d.system_text.literal());
  }
}

void PostgresqlStudies::create(std::int64_t study, std::span<TrialRow> rows) {
  if (rows.empty()) return;
  exec("SELECT study_id FROM studies WHERE study_id = $1 FOR UPDATE", study);
  const auto last =
      exec("SELECT number FROM trials WHERE study_id = $1 ORDER BY trial_id DESC LIMIT 1", study);
  const int first = last.empty() ? 0 : last[0][0].as<int>() + 1;
  const std::string now = utc_microseconds_now();
  Column numbers, states, started, completed;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    TrialRow& row = rows[i];
    row.number = first + static_cast<int>(i);
    if (row.state != TrialState::waiting && row.started_utc.empty()) row.started_utc = now;
    if (is_finished(row.state) && row.completed_utc.empty()) row.completed_utc = now;
    numbers.add(std::int64_t{row.number});
    states.add(state_name(row.state));
    started.add_or_null(row.started_utc);
    completed.add_or_null(row.completed_utc);
  }
  Details details;
  std::vector<std::int64_t> running;
  for (const pqxx::row& made :
       exec("INSERT INTO trials(number, study_id, state, datetime_start, datetime_complete) SELECT "
            "n, $1::int, s, b, e FROM unnest($2::int[], $3::trialstate[], $4::timestamp[], "
            "$5::timestamp[]) AS v(n, s, b, e) ORDER BY n RETURNING trial_id, number",
            study, numbers.literal(), states.literal(), started.literal(), completed.literal())) {
    TrialRow& row = rows[static_cast<std::size_t>(made[1].as<int>() - first)];
    row.id = made[0].as<std::int64_t>();
    add(details, row.id, row.params, row.values, row.user, row.system);
    for (const auto& [step, value] : row.intermediate) {
      details.step_trial.add(row.id);
      details.step.add(step);
      details.step_value.add(value);
      details.step_type.add(std::string_view(value_type_name(value)));
    }
    if (row.state == TrialState::running) running.push_back(row.id);
  }
  store(details);
  beat(running);  // leases are by the server's clock, a start is by the worker's
}

void PostgresqlStudies::change(std::span<const TrialChange> changes) {
  Details details;
  Column ids, states;
  for (const TrialChange& c : changes) {
    add(details, c.id, c.params, c.values, c.user, c.system);
    if (!c.state) continue;
    ids.add(c.id);
    states.add(state_name(*c.state));
  }
  store(details);
  if (ids.empty()) return;
  exec(
      "UPDATE trials SET state = v.s, datetime_start = CASE v.s WHEN 'RUNNING' THEN $3::timestamp "
      "ELSE datetime_start END, datetime_complete = CASE WHEN v.s IN ('COMPLETE', 'PRUNED', "
      "'FAIL') THEN $3::timestamp ELSE datetime_complete END FROM unnest($1::int[], "
      "$2::trialstate[]) AS v(id, s) WHERE trial_id = v.id",
      ids.literal(), states.literal(), utc_microseconds_now());
}

}  // namespace

std::unique_ptr<StudyStore> open_postgresql_studies(const std::string& url, StudyAccess access) {
  return std::make_unique<PostgresqlStudies>(url, access);
}

}  // namespace halmark::journal
