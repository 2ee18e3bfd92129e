// The tables of a fleet, and those of earlier versions brought forward: all in one transaction.
#include "fleet/work_table.hpp"
#include "sql/postgresql.hpp"

namespace halmark::fleet {
namespace {

using postgresql::Session;

// Beside those of the journal, whose schema is there when they are made.
constexpr const char* tables = R"sql(
CREATE TABLE IF NOT EXISTS halmark.agent (
  id bigserial PRIMARY KEY,
  node text NOT NULL,
  pid bigint NOT NULL,
  classes text[] NOT NULL,
  plugins jsonb NOT NULL,
  tool text NOT NULL,
  state text NOT NULL,
  doing text NOT NULL DEFAULT '',
  measured bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  lost bigint NOT NULL DEFAULT 0,
  lease_s double precision NOT NULL,
  began timestamptz NOT NULL DEFAULT clock_timestamp(),
  heard timestamptz NOT NULL DEFAULT clock_timestamp()
);
ALTER TABLE halmark.agent ADD COLUMN IF NOT EXISTS facts jsonb;
ALTER TABLE halmark.agent ADD COLUMN IF NOT EXISTS places jsonb;
CREATE TABLE IF NOT EXISTS halmark.need (
  id serial PRIMARY KEY,
  classes text[] NOT NULL,
  plugins jsonb NOT NULL,
  tool text NOT NULL,
  UNIQUE (tool, classes, plugins)
);
CREATE TABLE IF NOT EXISTS halmark.unit (
  id bigserial PRIMARY KEY,
  run bigint NOT NULL REFERENCES halmark.run(id),
  name text NOT NULL,
  round int NOT NULL,
  batch text NOT NULL,
  need int NOT NULL REFERENCES halmark.need(id),
  payload text NOT NULL,
  state text NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'leased', 'done', 'failed')),
  attempt int NOT NULL DEFAULT 0,
  losses int NOT NULL DEFAULT 0,
  agent bigint REFERENCES halmark.agent(id),
  nodes text[] NOT NULL DEFAULT '{}',
  lease_s double precision NOT NULL DEFAULT 60,
  lease_until timestamptz,
  ended timestamptz,
  UNIQUE (run, name, round)
);
CREATE INDEX IF NOT EXISTS unit_ready ON halmark.unit (need, id) WHERE state = 'ready';
CREATE INDEX IF NOT EXISTS unit_leased ON halmark.unit (lease_until) WHERE state = 'leased';
)sql";

}  // namespace

WorkTable::WorkTable(Session& session) : session_(session) {
  if (is_of_this_version(session_)) return;
  session_.write([&] {
    session_.exec(postgresql::lock_turn, static_cast<int>(postgresql::Turn::fleet));
    session_.exec_all(tables);
  });
}

bool WorkTable::is_there(Session& session) {
  bool out = false;
  session.read([&] { out = !session.exec("SELECT to_regclass('halmark.unit')")[0][0].is_null(); });
  return out;
}

// By the column that came last.
bool WorkTable::is_of_this_version(Session& session) {
  bool out = false;
  session.read([&] {
    out = !session
               .exec(
                   "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('halmark.agent') "
                   "AND attname = 'places' AND NOT attisdropped")
               .empty();
  });
  return out;
}

}  // namespace halmark::fleet
