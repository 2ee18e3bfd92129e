#include "study/storage/tables.hpp"

#include "core/version.hpp"
#include "study/storage/backends.hpp"

namespace halmark::journal {
namespace {

constexpr sql::Word study_words[] = {
    // Types and names.
    {"{serial}", "INTEGER NOT NULL", "SERIAL NOT NULL"},
    {"{direction}", "VARCHAR(8)", "studydirection"},
    {"{state}", "VARCHAR(8)", "trialstate"},
    {"{value_type}", "VARCHAR(7)", "trialvaluetype"},
    {"{step_type}", "VARCHAR(7)", "trialintermediatevaluetype"},
    {"{key}", "\"key\"", "key"},
    {"{time}", "DATETIME", "TIMESTAMP WITHOUT TIME ZONE"},
    {"{real}", "FLOAT", "FLOAT(53)"},
    // PostgreSQL's own text of a time leaves zeros at its end out.
    {"{started}", "datetime_start", "to_char(datetime_start, 'YYYY-MM-DD HH24:MI:SS.US')"},
    {"{completed}", "datetime_complete", "to_char(datetime_complete, 'YYYY-MM-DD HH24:MI:SS.US')"},
    {"{now}", "CURRENT_TIMESTAMP", "clock_timestamp()"},
    {"{beat_age_s}",
     "(julianday('now') - julianday(coalesce(heartbeat, datetime_start))) * 86400.0",
     "EXTRACT(EPOCH FROM clock_timestamp() AT TIME ZONE 'UTC' - coalesce(heartbeat, "
     "datetime_start))::float8"},
    // One of the ids that a mark lists, as id_list writes them.
    {"{in_ids}", "IN (SELECT value FROM json_each(?))", "= ANY(?::int[])"},
    // Until the transaction ends: Optuna's workers claim a trial by locking its row.
    {"{lock}", "", "FOR UPDATE"},
    {"{lock_trial}", "", "FOR UPDATE OF t"},
};

constexpr std::string_view enum_texts =
    R"sql(CREATE TYPE studydirection AS ENUM ('NOT_SET', 'MINIMIZE', 'MAXIMIZE');
CREATE TYPE trialstate AS ENUM ('RUNNING', 'COMPLETE', 'PRUNED', 'FAIL', 'WAITING');
CREATE TYPE trialvaluetype AS ENUM ('FINITE', 'INF_POS', 'INF_NEG');
CREATE TYPE trialintermediatevaluetype AS ENUM ('FINITE', 'INF_POS', 'INF_NEG', 'NAN');
)sql";

constexpr std::string_view table_texts = R"sql(
CREATE TABLE studies (
  study_id {serial},
  study_name VARCHAR(512) NOT NULL,
  PRIMARY KEY (study_id)
);
CREATE UNIQUE INDEX ix_studies_study_name ON studies (study_name);
CREATE TABLE version_info (
  version_info_id INTEGER NOT NULL,
  schema_version INTEGER,
  library_version VARCHAR(256),
  PRIMARY KEY (version_info_id),
  CHECK (version_info_id=1)
);
CREATE TABLE study_directions (
  study_direction_id {serial},
  direction {direction} NOT NULL,
  study_id INTEGER NOT NULL,
  objective INTEGER NOT NULL,
  PRIMARY KEY (study_direction_id),
  UNIQUE (study_id, objective),
  FOREIGN KEY(study_id) REFERENCES studies (study_id)
);
CREATE TABLE study_user_attributes (
  study_user_attribute_id {serial},
  study_id INTEGER,
  {key} VARCHAR(512),
  value_json TEXT,
  PRIMARY KEY (study_user_attribute_id),
  UNIQUE (study_id, {key}),
  FOREIGN KEY(study_id) REFERENCES studies (study_id)
);
CREATE TABLE study_system_attributes (
  study_system_attribute_id {serial},
  study_id INTEGER,
  {key} VARCHAR(512),
  value_json TEXT,
  PRIMARY KEY (study_system_attribute_id),
  UNIQUE (study_id, {key}),
  FOREIGN KEY(study_id) REFERENCES studies (study_id)
);
CREATE TABLE trials (
  trial_id {serial},
  number INTEGER,
  study_id INTEGER,
  state {state} NOT NULL,
  datetime_start {time},
  datetime_complete {time},
  PRIMARY KEY (trial_id),
  FOREIGN KEY(study_id) REFERENCES studies (study_id)
);
CREATE INDEX ix_trials_study_id ON trials (study_id);
CREATE TABLE trial_user_attributes (
  trial_user_attribute_id {serial},
  trial_id INTEGER,
  {key} VARCHAR(512),
  value_json TEXT,
  PRIMARY KEY (trial_user_attribute_id),
  UNIQUE (trial_id, {key}),
  FOREIGN KEY(trial_id) REFERENCES trials (trial_id)
);
CREATE TABLE trial_system_attributes (
  trial_system_attribute_id {serial},
  trial_id INTEGER,
  {key} VARCHAR(512),
  value_json TEXT,
  PRIMARY KEY (trial_system_attribute_id),
  UNIQUE (trial_id, {key}),
  FOREIGN KEY(trial_id) REFERENCES trials (trial_id)
);
CREATE TABLE trial_params (
  param_id {serial},
  trial_id INTEGER,
  param_name VARCHAR(512),
  param_value {real},
  distribution_json TEXT,
  PRIMARY KEY (param_id),
  UNIQUE (trial_id, param_name),
  FOREIGN KEY(trial_id) REFERENCES trials (trial_id)
);
CREATE TABLE trial_values (
  trial_value_id {serial},
  trial_id INTEGER NOT NULL,
  objective INTEGER NOT NULL,
  value {real},
  value_type {value_type} NOT NULL,
  PRIMARY KEY (trial_value_id),
  UNIQUE (trial_id, objective),
  FOREIGN KEY(trial_id) REFERENCES trials (trial_id)
);
CREATE TABLE trial_intermediate_values (
  trial_intermediate_value_id {serial},
  trial_id INTEGER NOT NULL,
  step INTEGER NOT NULL,
  intermediate_value {real},
  intermediate_value_type {step_type} NOT NULL,
  PRIMARY KEY (trial_intermediate_value_id),
  UNIQUE (trial_id, step),
  FOREIGN KEY(trial_id) REFERENCES trials (trial_id)
);
CREATE TABLE trial_heartbeats (
  trial_heartbeat_id {serial},
  trial_id INTEGER NOT NULL,
  heartbeat {time} NOT NULL,
  PRIMARY KEY (trial_heartbeat_id),
  UNIQUE (trial_id),
  FOREIGN KEY(trial_id) REFERENCES trials (trial_id)
);
CREATE TABLE alembic_version (
  version_num VARCHAR(32) NOT NULL,
  CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
)sql";

}  // namespace

std::string study_sql(std::string_view text, sql::Dialect dialect) {
  return sql::in_dialect(text, study_words, dialect);
}

std::string study_tables(sql::Dialect dialect) {
  std::string out = study_sql(table_texts, dialect);
  if (dialect == sql::Dialect::postgresql) out.insert(0, enum_texts);
  out +=
      "INSERT INTO version_info VALUES (1, " + std::to_string(study_schema_version) + ", 'halmark ";
  out += tool_version;
  out += "'); INSERT INTO alembic_version VALUES ('";
  out += study_revision;
  return out += "')";
}

}  // namespace halmark::journal
