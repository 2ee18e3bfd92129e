// Who is there and what runs are under way: rows that people look at.
#include "core/json/json.hpp"
#include "fleet/sql_values.hpp"
#include "fleet/work_table.hpp"
#include "sql/postgresql.hpp"

namespace halmark::fleet {
namespace {

constexpr double leases_of_silence = 3;

Fitness fitness_at(const sql::Row& row, int first) {
  return {.classes = Json::parse(row[first].text()).get<std::vector<std::string>>(),
          .plugins = Json::parse(row[first + 1].text()).get<std::map<std::string, std::string>>(),
          .tool = row[first + 2].text()};
}

}  // namespace

bool is_present(const Agent& agent) {
  return agent.state != "left" && agent.state != refused_state &&
         agent.silent_s < leases_of_silence * agent.lease_s;
}

std::int64_t WorkTable::enter(const Agent& agent) {
  std::int64_t id = 0;
  session_.write([&] {
    id = session_
             .exec("INSERT INTO halmark.agent(node, pid, classes, plugins, tool, state, lease_s, "
                   "facts, places, doing) VALUES ($1, $2, " HALMARK_TEXTS("$3") ", $4::jsonb, $5, $9, "
                   "$6, nullif($7, '')::jsonb, $8::jsonb, $10) RETURNING id",
                   agent.node, agent.pid, json_of(agent.offer.classes),
                   json_of(agent.offer.plugins), agent.offer.tool, agent.lease_s, agent.facts,
                   json_of(agent.places), agent.state, agent.doing)[0][0]
             .integer();
  });
  return id;
}

void WorkTable::say(const Agent& agent) {
  session_.write([&] {
    session_.exec(
        "UPDATE halmark.agent SET state = $2, doing = $3, lost = $4, heard = clock_timestamp() "
        "WHERE id = $1",
        agent.id, agent.state, agent.doing, agent.lost);
  });
}

void WorkTable::leave(const Agent& agent) {
  Agent last = agent;
  last.state = "left";
  last.doing.clear();
  say(last);
}

std::vector<Agent> WorkTable::agents() {
  std::vector<Agent> out;
  session_.read([&] {
    const sql::Rows found = session_.exec(
        "SELECT id, node, pid, array_to_json(classes), plugins, tool, state, doing, measured, "
        "failed, lost, extract(epoch FROM clock_timestamp() - began), "
        "extract(epoch FROM clock_timestamp() - heard), lease_s FROM halmark.agent "
        "WHERE heard > clock_timestamp() - interval '1 day' ORDER BY id");
    for (const sql::Row& row : found) {
      out.push_back({.id = row[0].integer(),
                     .node = row[1].text(),
                     .pid = row[2].integer(),
                     .offer = fitness_at(row, 3),
                     .state = row[6].text(),
                     .doing = row[7].text(),
                     .measured = row[8].integer(),
                     .failed = row[9].integer(),
                     .lost = row[10].integer(),
                     .since_s = row[11].number(),
                     .silent_s = row[12].number(),
                     .lease_s = row[13].number()});
    }
  });
  return out;
}

std::vector<Agent> WorkTable::agents_with_places(postgresql::Session& session) {
  std::vector<Agent> out;
  if (!is_of_this_version(session)) return out;
  session.read([&] {
    const sql::Rows found = session.exec(
        "SELECT id, node, array_to_json(classes), plugins, tool, state, "
        "extract(epoch FROM clock_timestamp() - heard), lease_s, places FROM halmark.agent "
        "WHERE facts IS NOT NULL ORDER BY id");
    for (const sql::Row& row : found) {
      out.push_back({.id = row[0].integer(),
                     .node = row[1].text(),
                     .offer = fitness_at(row, 2),
                     .state = row[5].text(),
                     .silent_s = row[6].number(),
                     .lease_s = row[7].number(),
                     .places = Json::parse(row[8].text())});
    }
  });
  return out;
}

std::string WorkTable::facts(postgresql::Session& session, std::int64_t agent) {
  std::string out;
  session.read([&] {
    const sql::Rows found = session.exec("SELECT facts FROM halmark.agent WHERE id = $1", agent);
    if (!found.empty()) out = found[0][0].text();
  });
  return out;
}

std::vector<RunProgress> WorkTable::runs() {
  std::vector<RunProgress> out;
  session_.read([&] {
    const sql::Rows found = session_.exec(
        "SELECT r.id, r.command, r.fingerprint, count(*) FILTER (WHERE state = 'ready'), "
        "count(*) FILTER (WHERE state = 'leased'), count(*) FILTER (WHERE state = 'done'), "
        "count(*) FILTER (WHERE state = 'failed'), "
        "count(*) FILTER (WHERE ended > clock_timestamp() - interval '1 minute'), "
        "(array_agg(array_to_json(n.classes)))[1], (array_agg(n.plugins))[1], max(n.tool) "
        "FROM halmark.unit u JOIN halmark.run r ON r.id = u.run JOIN halmark.need n ON n.id = "
        "u.need "
        "GROUP BY r.id, r.command, r.fingerprint ORDER BY r.id DESC LIMIT 10");
    for (const sql::Row& row : found) {
      out.push_back(
          {.run = row[0].integer(),
           .command = row[1].text(),
           .fingerprint = row[2].text(),
           .units = {row[3].integer(), row[4].integer(), row[5].integer(), row[6].integer()},
           .per_minute = row[7].number(),
           .need = fitness_at(row, 8)});
    }
  });
  return out;
}

}  // namespace halmark::fleet
