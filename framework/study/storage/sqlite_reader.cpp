#include "study/storage/sqlite_reader.hpp"

#include <algorithm>
#include <string_view>

#include "core/text/error.hpp"

namespace halmark::journal {

std::vector<StudySummary> SqliteStudyReader::list() {
  std::vector<StudySummary> out;
  {
    const auto ids = sql_.query("SELECT study_id FROM studies ORDER BY study_id");
    while (ids.step()) out.push_back({.info = {.id = ids.integer(0)}});
  }
  const auto counts =
      sql_.query("SELECT study_id, state, count(*) FROM trials GROUP BY study_id, state");
  while (counts.step()) {
    const std::int64_t study = counts.integer(0);
    const auto it = std::ranges::find(out, study, [](const auto& s) { return s.info.id; });
    if (it == out.end()) continue;
    const TrialState state = state_of(counts.text(1), path_);
    it->counts[static_cast<std::size_t>(state)] = counts.integer(2);
  }
  for (StudySummary& summary : out) summary.info = info_of(summary.info.id);
  return out;
}

StudyInfo SqliteStudyReader::info_of(std::int64_t study) {
  StudyInfo out{.id = study};
  const auto name = sql_.query("SELECT study_name FROM studies WHERE study_id = ?", study);
  if (name.step()) out.name = name.text(0);
  const auto directions = sql_.query(
      "SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective", study);
  while (directions.step()) {
    const StudyDirection direction = direction_of(directions.text(0));
    if (std::string_view(directions.text(0)) != direction_name(direction)) {
      throw refused(
          "study '" + out.name + "' has the unknown direction '" + directions.text(0) + "'", path_,
          "restore a backup");
    }
    out.directions.push_back(direction);
  }
  out.user = attributes(
      "SELECT key, value_json FROM study_user_attributes WHERE study_id = ? ORDER BY rowid", study);
  out.system = attributes(
      "SELECT key, value_json FROM study_system_attributes WHERE study_id = ? ORDER BY rowid",
      study);
  return out;
}

Attributes SqliteStudyReader::attributes(const char* sql, std::int64_t id) {
  const auto query = sql_.query(sql, id);
  Attributes out;
  while (query.step()) out.emplace_back(query.text(0), query.text(1));
  return out;
}

TrialRow SqliteStudyReader::row_of(const SqliteStatements::Use& row) {
  return {.id = row.integer(0),
          .number = row->getColumn(1).getInt(),
          .state = state_of(row.text(2), path_),
          .started_utc = row.text(3),
          .completed_utc = row.text(4)};
}

// All unfinished trials only where another connection has written since: looking at each of many
// running ones would make every ask as expensive as they are many.
std::vector<TrialRow> SqliteStudyReader::changed_rows(TrialCursor& cursor) {
  const auto pragma = sql_.query("PRAGMA data_version");
  const std::int64_t version = pragma.step() ? pragma.integer(0) : -1;
  std::map<std::int64_t, TrialCursor::Seen> suspects;
  if (version != cursor.version || cursor.log_at < 0) {
    suspects = cursor.unfinished;
  } else {
    for (auto at = static_cast<std::size_t>(cursor.log_at); at < log_.size(); ++at) {
      const auto it = cursor.unfinished.find(log_[at]);
      if (it != cursor.unfinished.end()) suspects.insert(*it);
    }
  }
  cursor.version = version;
  cursor.log_at = static_cast<std::int64_t>(log_.size());
  std::vector<TrialRow> out;
  for (const auto& [id, seen] : suspects) {
    const auto row = sql_.query(
        "SELECT trial_id, number, state, datetime_start, datetime_complete, (SELECT count(*) FROM "
        "trial_params p WHERE p.trial_id = t.trial_id) FROM trials t WHERE trial_id = ?",
        id);
    if (!row.step()) continue;
    TrialRow value = row_of(row);
    const auto params = static_cast<std::size_t>(row.integer(5));
    if (value.state != seen.state || params != seen.params) out.push_back(std::move(value));
  }
  return out;
}

std::vector<TrialRow> SqliteStudyReader::trials(std::int64_t study, TrialCursor& cursor) {
  std::vector<TrialRow> out = changed_rows(cursor);
  const std::size_t changed = out.size();
  {
    const auto rows = sql_.query(
        "SELECT trial_id, number, state, datetime_start, datetime_complete FROM trials WHERE "
        "study_id = ? AND trial_id > ? ORDER BY trial_id",
        study, cursor.last_id);
    while (rows.step()) out.push_back(row_of(rows));
  }
  for (std::size_t i = 0; i < changed; ++i) load(std::span(out).subspan(i, 1), false);
  load(std::span(out).subspan(changed), cursor.last_id < 0);
  for (const TrialRow& row : out) cursor.see(row);
  std::ranges::stable_sort(out, {}, &TrialRow::number);
  return out;
}

// Fills `rows`, which are in order of their ids, from the tables beside `trials`. `all`: whole
// tables in the order of their rows are cheaper than an index.
void SqliteStudyReader::load(std::span<TrialRow> rows, bool all) {
  if (rows.empty()) return;
  using Use = SqliteStatements::Use;
  const auto each = [&](const char* whole, const char* range, auto add) {
    const Use query = all ? sql_.query(whole) : sql_.query(range, rows.front().id, rows.back().id);
    std::size_t at = 0;
    while (query.step()) {
      const std::int64_t id = query.integer(0);
      if (rows[at].id != id) {  // rows of other studies lie between
        const auto it = std::ranges::lower_bound(rows, id, {}, &TrialRow::id);
        if (it == rows.end() || it->id != id) continue;
        at = static_cast<std::size_t>(it - rows.begin());
      }
      add(rows[at], query);
    }
  };
  const auto number = [](const Use& q, int column) {
    const SQLite::Column value = q->getColumn(column);
    return typed_value(value.isNull(), value.getDouble(), q.text(column + 1));
  };
  each("SELECT trial_id, param_name, param_value, distribution_json FROM trial_params",
       "SELECT trial_id, param_name, param_value, distribution_json FROM trial_params WHERE "
       "trial_id BETWEEN ? AND ? ORDER BY param_id",
       [&](TrialRow& row, const Use& q) {
         const SQLite::Column text = q->getColumn(3);
         row.params.push_back(
             {q.text(1), q->getColumn(2).getDouble(),
              texts_.parsed({text.getText(), static_cast<std::size_t>(text.getBytes())})});
       });
  each("SELECT trial_id, objective, value, value_type FROM trial_values",
       "SELECT trial_id, objective, value, value_type FROM trial_values WHERE trial_id BETWEEN ? "
       "AND ?",
       [&](TrialRow& row, const Use& q) {
         const auto objective = static_cast<std::size_t>(q.integer(1));
         if (objective >= static_cast<std::size_t>(objectives_max)) {
           throw refused("trial " + std::to_string(row.number) + " has a value of objective " +
                             std::to_string(q.integer(1)),
                         path_, "restore a backup");
         }
         if (row.values.size() <= objective) row.values.resize(objective + 1);
         row.values[objective] = number(q, 2);
       });
  each(
      "SELECT trial_id, step, intermediate_value, intermediate_value_type FROM "
      "trial_intermediate_values",
      "SELECT trial_id, step, intermediate_value, intermediate_value_type FROM "
      "trial_intermediate_values WHERE trial_id BETWEEN ? AND ?",
      [&](TrialRow& row, const Use& q) {
        row.intermediate.emplace_back(q.integer(1), number(q, 2));
      });
  each("SELECT trial_id, key, value_json FROM trial_user_attributes",
       "SELECT trial_id, key, value_json FROM trial_user_attributes WHERE trial_id BETWEEN ? AND ?",
       [](TrialRow& row, const Use& q) { row.user.emplace_back(q.text(1), q.text(2)); });
  each("SELECT trial_id, key, value_json FROM trial_system_attributes",
       "SELECT trial_id, key, value_json FROM trial_system_attributes WHERE trial_id BETWEEN ? AND "
       "?",
       [](TrialRow& row, const Use& q) { row.system.emplace_back(q.text(1), q.text(2)); });
}

std::vector<TrialLease> SqliteStudyReader::leases(std::span<const std::int64_t> ids) {
  std::vector<TrialLease> out;
  for (const std::int64_t id : ids) {
    const auto row = sql_.query(
        "SELECT state, (julianday('now') - julianday(coalesce(heartbeat, datetime_start))) * "
        "86400.0 FROM trials t LEFT JOIN trial_heartbeats h ON h.trial_id = t.trial_id WHERE "
        "t.trial_id = ?",
        id);
    if (!row.step()) continue;
    TrialLease lease{.id = id, .state = state_of(row.text(0), path_)};
    if (!row->getColumn(1).isNull()) lease.beat_age_s = row->getColumn(1).getDouble();
    lease.system =
        attributes("SELECT key, value_json FROM trial_system_attributes WHERE trial_id = ?", id);
    if (const auto* owner = find_attribute(lease.system, worker_attribute)) lease.owner = *owner;
    out.push_back(std::move(lease));
  }
  return out;
}

}  // namespace halmark::journal
