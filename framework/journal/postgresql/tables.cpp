#include "journal/postgresql/tables.hpp"

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark::journal {
namespace {

// Version 1. Entries and writers draw their numbers from one sequence, so that these are the order
// of both. A run's `chain` starts at SHA-256 of its columns and takes in each writer as it comes:
// its value then is where that writer's rows start. What the rows of SQLite have, they have here,
// in the same encoding; their samples lie beside them always.
constexpr const char* first_tables = R"sql(
CREATE TABLE halmark.meta (schema_version integer NOT NULL);
INSERT INTO halmark.meta VALUES (1);
CREATE SEQUENCE halmark.row_number;
CREATE TABLE halmark.run (
  id bigserial PRIMARY KEY,
  command text NOT NULL,
  plan_hash text NOT NULL,
  plan_text text NOT NULL,
  fingerprint text NOT NULL,
  tool_version text NOT NULL,
  tool_build text NOT NULL,
  started_utc text NOT NULL,
  checksum bigint NOT NULL,
  chain text NOT NULL
);
CREATE TABLE halmark.writer (
  id bigint PRIMARY KEY DEFAULT nextval('halmark.row_number'),
  run bigint NOT NULL REFERENCES halmark.run(id),
  node text NOT NULL,
  started_utc text NOT NULL,
  start_chain text NOT NULL,
  chain text NOT NULL
);
CREATE TABLE halmark.entry (
  id bigint PRIMARY KEY DEFAULT nextval('halmark.row_number'),
  run bigint NOT NULL REFERENCES halmark.run(id),
  writer bigint NOT NULL REFERENCES halmark.writer(id),
  kind text NOT NULL,
  key text NOT NULL,
  body text NOT NULL,
  checksum bigint NOT NULL,
  chain text NOT NULL
);
CREATE TABLE halmark.sample_block (
  entry bigint PRIMARY KEY REFERENCES halmark.entry(id),
  bytes bytea NOT NULL
);
CREATE INDEX run_by_plan ON halmark.run(plan_hash, fingerprint);
CREATE INDEX writer_by_run ON halmark.writer(run, id);
CREATE INDEX entry_by_key ON halmark.entry(kind, key COLLATE "C", id);
CREATE INDEX entry_by_run ON halmark.entry(run, kind, id);
CREATE INDEX entry_by_writer ON halmark.entry(writer, id);
)sql";

constexpr const char* own_tables = "('meta', 'run', 'writer', 'entry', 'sample_block')";

// Out of the tables of the server: its functions (to_regclass) answer out of a cache that does not
// know what another process has made while this one waited for its turn.
bool has_tables(postgresql::Session& session) {
  return !session
              .exec(
                  "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE "
                  "n.nspname = 'halmark' AND c.relname = 'meta'")
              .empty();
}

bool has_schema(postgresql::Session& session) {
  return !session.exec("SELECT 1 FROM pg_namespace WHERE nspname = 'halmark'").empty();
}

int stored_version(postgresql::Session& session, int present) {
  const auto rows = session.exec("SELECT schema_version FROM halmark.meta");
  const int version = rows.size() == 1 ? as_int(rows[0][0].integer()) : 0;
  if (version > present) {
    throw refused("this database has schema " + std::to_string(version) +
                      "; this halmark knows up to " + std::to_string(present),
                  session.location(), "use a newer halmark");
  }
  if (version < 1) {
    throw refused("this database does not say which schema it has", session.location(),
                  "restore a backup");
  }
  return version;
}

void require_own_parts(postgresql::Session& session) {
  for (const std::string& part : foreign_table_parts(session)) {
    throw refused("this database has " + part, session.location(),
                  "drop it: rows are stored as they are given");
  }
}

}  // namespace

std::span<const TableMigration> table_migrations() { return {}; }

int table_version(std::span<const TableMigration> migrations) {
  return 1 + as_int(migrations.size());
}

std::vector<std::string> foreign_table_parts(postgresql::Session& session) {
  const std::string of_ours =
      std::string(
          "JOIN pg_class c ON c.oid = owner JOIN pg_namespace n ON n.oid = c.relnamespace "
          "WHERE n.nspname = 'halmark' AND c.relname IN ") +
      own_tables;
  const std::string query =
      "SELECT 'the trigger ' || tgname || ' on ' || c.relname FROM (SELECT tgname, tgrelid AS "
      "owner FROM pg_trigger WHERE NOT tgisinternal) t " +
      of_ours +
      " UNION ALL SELECT 'the rule ' || rulename || ' on ' || c.relname FROM (SELECT rulename, "
      "ev_class AS owner FROM pg_rewrite) r " +
      of_ours + " ORDER BY 1";
  return mapped(session.exec(query), [&](const sql::Row& row) { return row[0].text(); });
}

void prepare_tables(postgresql::Session& session, std::span<const TableMigration> migrations) {
  const int present = table_version(migrations);
  bool is_ready = false;
  session.read(
      [&] { is_ready = has_tables(session) && stored_version(session, present) == present; });
  session.write([&] {
    if (!is_ready) session.exec(postgresql::lock_turn, as_int(postgresql::Turn::tables));
    if (!has_tables(session)) {
      // Made by an administrator: then only its tables are ours to make.
      if (!has_schema(session)) session.exec_all("CREATE SCHEMA halmark");
      session.exec_all(first_tables);
    }
    require_own_parts(session);
    for (int version = stored_version(session, present); version < present; ++version) {
      session.exec_all(migrations[as_size(version) - 1].statements);
      session.exec("UPDATE halmark.meta SET schema_version = $1", version + 1);
    }
  });
}

void require_tables(postgresql::Session& session) {
  if (!has_tables(session)) {
    throw refused("this database holds no results", session.location(),
                  "run halmark tune or name another one with --db");
  }
  stored_version(session, table_version(table_migrations()));
}

}  // namespace halmark::journal
