// Claims skip what others are claiming (SKIP LOCKED), so that agents never wait for each other;
// what was taken away from an agent is noticed by the number of its attempt when it wants to store.
#include "fleet/work_table.hpp"

#include <algorithm>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "fleet/sql_values.hpp"
#include "sql/postgresql.hpp"

namespace halmark::fleet {
namespace {

using postgresql::Session;

std::string array_of(std::span<const std::int64_t> ids) {
  std::string out = "{";
  for (const std::int64_t id : ids) out += (out.size() > 1 ? "," : "") + std::to_string(id);
  return out + '}';
}

struct Held {
  std::string ids, attempts;
};
Held held_of(std::span<const WorkUnit> units) {
  std::vector<std::int64_t> ids, attempts;
  for (const WorkUnit& u : units) {
    ids.push_back(u.id);
    attempts.push_back(u.attempt);
  }
  return {array_of(ids), array_of(attempts)};
}

}  // namespace

int WorkTable::id_of(const Fitness& need) {
  int id = 0;
  session_.write([&] {
    const std::string classes = json_of(need.classes), plugins = json_of(need.plugins);
    session_.exec("INSERT INTO halmark.need(classes, plugins, tool) VALUES (" HALMARK_TEXTS(
                      "$1") ", $2::jsonb, $3) ON CONFLICT DO NOTHING",
                  classes, plugins, need.tool);
    id = as_int(session_
                    .exec("SELECT id FROM halmark.need WHERE classes = " HALMARK_TEXTS(
                              "$1") " AND plugins = $2::jsonb AND tool = $3",
                          classes, plugins, need.tool)[0][0]
                    .integer());
  });
  return id;
}

std::vector<std::int64_t> WorkTable::add(std::span<const WorkUnit> units,
                                         const UnitSettings& settings, const Fitness& need) {
  constexpr std::size_t at_once = 500;
  std::vector<std::int64_t> ids;
  if (units.empty()) return ids;
  const int need_id = id_of(need);
  for (std::size_t begin = 0; begin < units.size(); begin += at_once) {
    const auto some = units.subspan(begin, std::min(at_once, units.size() - begin));
    Json rows = Json::array();
    for (const WorkUnit& u : some) {
      rows.push_back({{"place", rows.size()},
                      {"run", u.run},
                      {"name", u.name},
                      {"round", u.round},
                      {"batch", u.batch},
                      {"payload", payload_of(u, settings)}});
    }
    const std::string text = dump_json(rows);
    session_.write([&] {
      session_.exec(
          "INSERT INTO halmark.unit(run, name, round, batch, payload, need) "
          "SELECT run, name, round, batch, payload, $2 "
          "FROM jsonb_to_recordset($1::jsonb) AS u(place int, run bigint, name text, round int, "
          "batch text, payload text) ORDER BY place ON CONFLICT DO NOTHING",
          text, need_id);
    });
    session_.read([&] {
      const sql::Rows found = session_.exec(
          "SELECT u.id FROM jsonb_to_recordset($1::jsonb) AS w(place int, run bigint, name text, "
          "round int) JOIN halmark.unit u USING (run, name, round) ORDER BY w.place",
          text);
      for (const sql::Row& row : found) ids.push_back(row[0].integer());
    });
  }
  return ids;
}

UnitCounts WorkTable::counts(std::span<const std::int64_t> ids) {
  UnitCounts out;
  session_.read([&] {
    const sql::Rows found = session_.exec(
        "SELECT count(*) FILTER (WHERE state = 'ready'), count(*) FILTER (WHERE state = 'leased'), "
        "count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'failed') "
        "FROM halmark.unit WHERE id = ANY($1::bigint[])",
        array_of(ids));
    const sql::Row& row = found[0];
    out = {row[0].integer(), row[1].integer(), row[2].integer(), row[3].integer()};
  });
  return out;
}

void WorkTable::expire() {
  session_.write([&] {
    session_.exec(
        "UPDATE halmark.unit SET losses = losses + 1, "
        "state = CASE WHEN losses + 1 >= $1 THEN 'failed' ELSE 'ready' END "
        "WHERE id IN (SELECT id FROM halmark.unit WHERE state = 'leased' "
        "AND lease_until < clock_timestamp() "
        "AND clock_timestamp() > pg_postmaster_start_time() + make_interval(secs => lease_s) "
        "FOR UPDATE SKIP LOCKED)",
        losses_max);
  });
}

std::vector<FailedUnit> WorkTable::failed(std::span<const std::int64_t> ids) {
  std::vector<FailedUnit> out;
  session_.read([&] {
    const sql::Rows found = session_.exec(
        "SELECT id, run, round, payload, array_to_json(nodes) FROM halmark.unit "
        "WHERE state = 'failed' AND id = ANY($1::bigint[]) ORDER BY id",
        array_of(ids));
    for (const sql::Row& row : found) {
      FailedUnit& f = out.emplace_back();
      f.unit.id = row[0].integer();
      f.unit.run = row[1].integer();
      f.unit.round = as_int(row[2].integer());
      read_payload(row[3].text(), f.unit);
      f.nodes = Json::parse(row[4].text()).get<std::vector<std::string>>();
    }
  });
  return out;
}

bool WorkTable::give_up(Session& session, std::int64_t unit) {
  return session
             .exec(
                 "UPDATE halmark.unit SET state = 'done', ended = clock_timestamp() "
                 "WHERE id = $1 AND state = 'failed' RETURNING id",
                 unit)
             .size() == 1;
}

namespace {

// The oldest free unit, and what stands behind it in its batch. Each step follows the index of free
// units in its order: a server that sorts them takes ten times as long.
constexpr const char* claim_some =
    "WITH head AS MATERIALIZED (SELECT id, run, round, batch FROM halmark.unit "
    "WHERE state = 'ready' AND need = $1 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED), "
    "next AS MATERIALIZED (SELECT behind.id FROM head, LATERAL (SELECT u.id FROM halmark.unit u "
    "WHERE u.state = 'ready' AND u.need = $1 AND u.id >= head.id AND u.run = head.run "
    "AND u.round = head.round AND u.batch = head.batch ORDER BY u.id LIMIT $2 "
    "FOR UPDATE SKIP LOCKED) AS behind) "
    "UPDATE halmark.unit t SET state = 'leased', attempt = t.attempt + 1, agent = $3, "
    "nodes = t.nodes || $4::text, lease_s = $5, "
    "lease_until = clock_timestamp() + make_interval(secs => $5) "
    "FROM next WHERE t.id = next.id "
    "RETURNING t.id, t.run, t.attempt, t.name, t.batch, t.round, t.payload";

}  // namespace

WorkTable::Claim WorkTable::claim(const Agent& agent, int units_max) {
  Claim out;
  session_.write([&] {
    const sql::Rows needs =
        session_.exec("SELECT id FROM halmark.need WHERE tool = $1 AND classes <@ " HALMARK_TEXTS(
                          "$2") " AND plugins <@ $3::jsonb ORDER BY id DESC",
                      agent.offer.tool, json_of(agent.offer.classes), json_of(agent.offer.plugins));
    for (const sql::Row& need : needs) {
      const sql::Rows found = session_.exec(claim_some, as_int(need[0].integer()), units_max,
                                            agent.id, agent.node, agent.lease_s);
      for (const sql::Row& row : found) {
        WorkUnit& unit = out.units.emplace_back();
        unit.id = row[0].integer();
        unit.run = row[1].integer();
        unit.attempt = as_int(row[2].integer());
        unit.name = row[3].text();
        unit.batch = row[4].text();
        unit.round = as_int(row[5].integer());
        out.settings = read_payload(row[6].text(), unit);
      }
      if (!out.units.empty()) return;
    }
  });
  std::ranges::sort(out.units, {}, &WorkUnit::id);
  return out;
}

std::vector<std::int64_t> WorkTable::renew(const Agent& agent, std::span<const WorkUnit> held) {
  std::vector<std::int64_t> out;
  const Held text = held_of(held);
  session_.write([&] {
    const sql::Rows found = session_.exec(
        "UPDATE halmark.unit t SET state = 'leased', lease_until = clock_timestamp() + "
        "make_interval(secs => $4) FROM unnest($2::bigint[], $3::int[]) AS h(id, attempt) "
        "WHERE t.id = h.id AND t.attempt = h.attempt AND t.agent = $1 "
        "AND t.state IN ('leased', 'ready') RETURNING t.id",
        agent.id, text.ids, text.attempts, agent.lease_s);
    for (const sql::Row& row : found) out.push_back(row[0].integer());
  });
  return out;
}

void WorkTable::release(const Agent& agent, std::span<const WorkUnit> held) {
  const Held text = held_of(held);
  session_.write([&] {
    session_.exec(
        "UPDATE halmark.unit t SET state = 'ready' FROM unnest($2::bigint[], $3::int[]) AS h(id, "
        "attempt) WHERE t.id = h.id AND t.attempt = h.attempt AND t.agent = $1 "
        "AND t.state = 'leased'",
        agent.id, text.ids, text.attempts);
  });
}

void WorkTable::finish(Session& session, const Finished& f) {
  // What ran out and was taken by nobody is still its own.
  const sql::Rows done = session.exec(
      "UPDATE halmark.unit SET state = 'done', ended = clock_timestamp() "
      "WHERE id = $1 AND agent = $2 AND attempt = $3 AND state IN ('leased', 'ready') RETURNING id",
      f.unit, f.agent, f.attempt);
  if (done.size() == 1) {
    session.exec(
        "UPDATE halmark.agent SET measured = measured + $2, failed = failed + $3, "
        "heard = clock_timestamp() WHERE id = $1",
        f.agent, f.rows, f.failures);
    return;
  }
  const sql::Rows now = session.exec(
      "SELECT 1 FROM halmark.unit WHERE id = $1 AND agent = $2 AND attempt = $3 AND state = 'done'",
      f.unit, f.agent, f.attempt);
  if (!now.empty()) throw AlreadyStored("unit " + std::to_string(f.unit) + " is stored");
  throw LostLease("unit " + std::to_string(f.unit) + " was taken by another agent");
}

}  // namespace halmark::fleet
