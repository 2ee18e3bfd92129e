#include "study/storage/postgresql/trials.hpp"

#include <algorithm>

namespace halmark::journal {

Attributes read_attributes(postgresql::Session& session, const char* sql, std::int64_t id) {
  Attributes out;
  for (const pqxx::row& row : session.exec(sql, id))
    out.emplace_back(text_at(row, 0), text_at(row, 1));
  return out;
}

std::vector<TrialRow> PostgresqlTrials::read(std::int64_t study, TrialCursor& cursor) {
  std::vector<TrialRow> out = changed_rows(study, cursor);
  if (out.empty()) return out;
  read_details(out);
  for (const TrialRow& row : out) cursor.see(row);
  std::ranges::stable_sort(out, {}, &TrialRow::number);
  return out;
}

std::vector<TrialRow> PostgresqlTrials::changed_rows(std::int64_t study,
                                                     const TrialCursor& cursor) {
  Column unfinished;
  for (const auto& [id, seen] : cursor.unfinished) unfinished.add(id);
  std::vector<TrialRow> out;
  // A finished trial changes no more: those of the cursor are all that may have.
  // PostgreSQL's own text of a time leaves zeros at its end out.
  for (const pqxx::row& row : session_.exec(
           "SELECT trial_id, number, state, to_char(datetime_start, 'YYYY-MM-DD HH24:MI:SS.US'), "
           "to_char(datetime_complete, 'YYYY-MM-DD HH24:MI:SS.US'), (SELECT count(*) FROM "
           "trial_params p WHERE p.trial_id = t.trial_id) FROM trials t WHERE study_id = $1 "
           "AND (trial_id > $2 OR trial_id = ANY($3::int[])) ORDER BY trial_id",
           study, cursor.last_id, unfinished.literal())) {
    TrialRow value{.id = row[0].as<std::int64_t>(),
                   .number = row[1].as<int>(),
                   .state = state_of(row[2].c_str(), session_.location()),
                   .started_utc = text_at(row, 3),
                   .completed_utc = text_at(row, 4)};
    const auto seen = cursor.unfinished.find(value.id);
    const bool is_known = seen != cursor.unfinished.end() && seen->second.state == value.state &&
                          seen->second.params == row[5].as<std::size_t>();
    if (!is_known) out.push_back(std::move(value));
  }
  return out;
}

void PostgresqlTrials::read_details(std::vector<TrialRow>& rows) {
  Column ids;
  for (const TrialRow& row : rows) ids.add(row.id);
  const auto each = [&](const char* sql, auto add) {
    for (const pqxx::row& row : session_.exec(sql, ids.literal())) {
      add(*std::ranges::lower_bound(rows, row[0].as<std::int64_t>(), {}, &TrialRow::id), row);
    }
  };
  each(
      "SELECT trial_id, param_name, param_value, distribution_json FROM trial_params WHERE "
      "trial_id = ANY($1::int[]) ORDER BY param_id",
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
}

void PostgresqlTrials::add(Details& to, std::int64_t id, const std::vector<TrialParam>& params,
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

void PostgresqlTrials::store(const Details& d) {
  if (!d.param_trial.empty()) {
    session_.exec(
        "INSERT INTO trial_params(trial_id, param_name, param_value, distribution_json) SELECT * "
        "FROM unnest($1::int[], $2::text[], $3::float8[], $4::text[]) ON CONFLICT(trial_id, "
        "param_name) DO UPDATE SET param_value = excluded.param_value, distribution_json = "
        "excluded.distribution_json",
        d.param_trial.literal(), d.param_name.literal(), d.param_value.literal(),
        d.distribution.literal());
  }
  if (!d.value_trial.empty()) {
    session_.exec(
        "INSERT INTO trial_values(trial_id, objective, value, value_type) SELECT * FROM "
        "unnest($1::int[], $2::int[], $3::float8[], $4::trialvaluetype[]) ON CONFLICT(trial_id, "
        "objective) DO UPDATE SET value = excluded.value, value_type = excluded.value_type",
        d.value_trial.literal(), d.objective.literal(), d.value.literal(), d.value_type.literal());
  }
  if (!d.step_trial.empty()) {
    session_.exec(
        "INSERT INTO trial_intermediate_values(trial_id, step, intermediate_value, "
        "intermediate_value_type) SELECT * FROM unnest($1::int[], $2::int[], $3::float8[], "
        "$4::trialintermediatevaluetype[])",
        d.step_trial.literal(), d.step.literal(), d.step_value.literal(), d.step_type.literal());
  }
  if (!d.user_trial.empty()) {
    session_.exec(
        "INSERT INTO trial_user_attributes(trial_id, key, value_json) SELECT * FROM "
        "unnest($1::int[], $2::text[], $3::text[]) ON CONFLICT(trial_id, key) DO UPDATE SET "
        "value_json = excluded.value_json",
        d.user_trial.literal(), d.user_key.literal(), d.user_text.literal());
  }
  if (!d.system_trial.empty()) {
    session_.exec(
        "INSERT INTO trial_system_attributes(trial_id, key, value_json) SELECT * FROM "
        "unnest($1::int[], $2::text[], $3::text[]) ON CONFLICT(trial_id, key) DO UPDATE SET "
        "value_json = excluded.value_json",
        d.system_trial.literal(), d.system_key.literal(), d.system_text.literal());
  }
}

void PostgresqlTrials::create(std::int64_t study, std::span<TrialRow> rows) {
  if (rows.empty()) return;
  session_.exec("SELECT study_id FROM studies WHERE study_id = $1 FOR UPDATE", study);
  const auto last = session_.exec(
      "SELECT number FROM trials WHERE study_id = $1 ORDER BY trial_id DESC LIMIT 1", study);
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
  for (const pqxx::row& made : session_.exec(
           "INSERT INTO trials(number, study_id, state, datetime_start, datetime_complete) SELECT "
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

void PostgresqlTrials::change(std::span<const TrialChange> changes) {
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
  session_.exec(
      "UPDATE trials SET state = v.s, datetime_start = CASE v.s WHEN 'RUNNING' THEN $3::timestamp "
      "ELSE datetime_start END, datetime_complete = CASE WHEN v.s IN ('COMPLETE', 'PRUNED', "
      "'FAIL') THEN $3::timestamp ELSE datetime_complete END FROM unnest($1::int[], "
      "$2::trialstate[]) AS v(id, s) WHERE trial_id = v.id",
      ids.literal(), states.literal(), utc_microseconds_now());
}

void PostgresqlTrials::beat(std::span<const std::int64_t> ids) {
  Column trials;
  for (const std::int64_t id : ids) trials.add(id);
  if (trials.empty()) return;
  session_.exec(
      "INSERT INTO trial_heartbeats(trial_id, heartbeat) SELECT unnest($1::int[]), "
      "clock_timestamp() ON CONFLICT(trial_id) DO UPDATE SET heartbeat = excluded.heartbeat",
      trials.literal());
}

std::vector<TrialLease> PostgresqlTrials::leases(std::span<const std::int64_t> ids) {
  std::vector<TrialLease> out;
  for (const std::int64_t id : ids) {
    // Locked until the transaction ends: Optuna's workers claim a trial by locking its row.
    const auto found = session_.exec(
        "SELECT state, EXTRACT(EPOCH FROM clock_timestamp() AT TIME ZONE 'UTC' - "
        "coalesce(heartbeat, datetime_start))::float8 FROM trials t LEFT JOIN trial_heartbeats h "
        "ON h.trial_id = t.trial_id WHERE t.trial_id = $1 FOR UPDATE OF t",
        id);
    if (found.empty()) continue;
    TrialLease lease{.id = id, .state = state_of(found[0][0].c_str(), session_.location())};
    if (!found[0][1].is_null()) lease.beat_age_s = found[0][1].as<double>();
    lease.system = read_attributes(
        session_, "SELECT key, value_json FROM trial_system_attributes WHERE trial_id = $1", id);
    if (const auto* owner = find_attribute(lease.system, worker_attribute)) lease.owner = *owner;
    out.push_back(std::move(lease));
  }
  return out;
}

}  // namespace halmark::journal
