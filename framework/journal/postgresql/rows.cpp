#include "journal/postgresql/rows.hpp"

#include <utility>

#include "core/text/digest.hpp"
#include "journal/sqlite/schema.hpp"

namespace halmark::journal {
namespace {

// Rows that are taken to this side at once: with their samples some tens of megabytes.
constexpr std::size_t rows_at_once = 512;

constexpr const char* server_entry_columns =
    "e.id, e.run, e.kind, e.key, e.body, e.checksum, e.chain, e.writer";

// Values in the order of their marks.
struct ServerQuery {
  std::string sql;
  std::vector<sql::Value> values;

  void where(const char* term) {
    sql += is_first ? " WHERE " : " AND ";
    sql += term;
    is_first = false;
  }
  void where(const char* term, sql::Value value) {
    where(term);
    values.push_back(std::move(value));
  }
  bool is_first = true;
};

ServerQuery query_of(const RowQuery& query, std::int64_t after) {
  ServerQuery out{
      std::string("SELECT ") + server_entry_columns + (query.with_blocks ? ", b.bytes" : "") +
          " FROM halmark.entry e" +
          (query.with_blocks ? " LEFT JOIN halmark.sample_block b ON b.entry = e.id" : ""),
      {}};
  if (query.run) out.where("e.run = ?", *query.run);
  if (query.writer) out.where("e.writer = ?", *query.writer);
  if (!query.kind.empty()) out.where("e.kind = ?", query.kind);
  if (!query.key.empty()) out.where("e.key COLLATE \"C\" = ?", query.key);
  if (query.fingerprint) {
    out.where("e.run IN (SELECT id FROM halmark.run WHERE fingerprint = ?)", *query.fingerprint);
  }
  if (after != 0) out.where("e.id > ?", after);
  out.sql += " ORDER BY e.id";
  if (query.latest != 0) out.sql += " DESC";
  out.sql += " LIMIT " + std::to_string(query.latest != 0 ? query.latest : rows_at_once);
  return out;
}

ServerQuery query_of(std::string select, const RunQuery& query) {
  ServerQuery out{std::move(select) + " FROM halmark.run r", {}};
  if (query.plan_hash) out.where("plan_hash = ?", *query.plan_hash);
  if (query.fingerprint) out.where("fingerprint = ?", *query.fingerprint);
  if (query.is_sweep) out.where("plan_text <> ''");
  if (query.has_winners) {
    out.where("EXISTS (SELECT 1 FROM halmark.entry e WHERE e.run = r.id AND e.kind = 'winner')");
  }
  return out;
}

StoredRow server_row(const sql::Row& row) {
  StoredRow out{.id = row[0].integer(),
                .run = row[1].integer(),
                .checksum = row[5].integer(),
                .kind = row[2].text(),
                .key = row[3].text(),
                .body = row[4].text(),
                .chain = row[6].text()};
  out.writer = row[7].integer();
  if (row.size() > 8 && !row[8].is_null()) out.block = row[8].text();
  return out;
}

}  // namespace

std::string writer_start(const std::string& list_end, const WriterRow& writer) {
  Encoder encoder;
  encoder.text(list_end).text(writer.node).text(writer.started_utc);
  return sha256_of(encoder.bytes());
}

Error PostgresqlRows::damage(const std::string& what) const {
  return refused("this database is damaged: " + what, session_.location(),
                 "'halmark verify --db URL' names every row of it; restore a backup (pg_restore)");
}

void PostgresqlRows::each_row(const RowQuery& query,
                              const std::function<void(const StoredRow&)>& visit) {
  session_.read([&] {
    for (std::int64_t after = query.after;;) {
      const ServerQuery some = query_of(query, after);
      std::size_t rows = 0;
      session_.each(some.sql, some.values, [&](const sql::Row& row) {
        const StoredRow stored = server_row(row);
        after = stored.id;
        ++rows;
        visit(stored);
      });
      if (query.latest != 0 || rows < rows_at_once) return;
    }
  });
}

std::vector<std::int64_t> PostgresqlRows::run_ids(const RunQuery& query) {
  std::vector<std::int64_t> out;
  session_.read([&] {
    const ServerQuery runs = query_of("SELECT r.id", query);
    session_.each(runs.sql + " ORDER BY r.id", runs.values,
                  [&](const sql::Row& row) { out.push_back(row[0].integer()); });
  });
  return out;
}

std::optional<std::int64_t> PostgresqlRows::latest_run(const RunQuery& query) {
  std::optional<std::int64_t> out;
  session_.read([&] {
    const ServerQuery runs = query_of("SELECT max(r.id)", query);
    session_.each(runs.sql, runs.values, [&](const sql::Row& row) {
      if (!row[0].is_null()) out = row[0].integer();
    });
  });
  return out;
}

void PostgresqlRows::each_run_where(const std::string& condition,
                                    const std::function<void(const RunRow&)>& visit) {
  session_.read([&] {
    const std::string sql = std::string("SELECT id, checksum, chain, ") + run_columns +
                            " FROM halmark.run" + condition + " ORDER BY id";
    for (const sql::Row& row : session_.exec(sql)) {
      visit({.id = row[0].integer(),
             .info = {.command = row[3].text(),
                      .plan_hash = row[4].text(),
                      .plan_text = row[5].text(),
                      .fingerprint = row[6].text(),
                      .tool_version = row[7].text(),
                      .tool_build = row[8].text(),
                      .started_utc = row[9].text()},
             .checksum = row[1].integer(),
             .chain = row[2].text()});
    }
  });
}

void PostgresqlRows::each_run(const std::function<void(const RunRow&)>& visit) {
  each_run_where("", visit);
}

std::optional<RunRow> PostgresqlRows::run(std::int64_t id) {
  std::optional<RunRow> out;
  each_run_where(" WHERE id = " + std::to_string(id), [&](const RunRow& run) { out = run; });
  return out;
}

std::int64_t PostgresqlRows::last_run_of_rows() {
  std::int64_t out = 0;
  session_.read([&] {
    out = session_.exec("SELECT coalesce(max(run), 0) FROM halmark.entry")[0][0].integer();
  });
  return out;
}

std::vector<WriterRow> PostgresqlRows::writers(std::int64_t run) {
  std::vector<WriterRow> out;
  session_.read([&] {
    for (const sql::Row& row : session_.exec(
             "SELECT id, node, started_utc, start_chain, chain FROM halmark.writer WHERE run = $1 "
             "ORDER BY id",
             run)) {
      out.push_back({row[0].integer(), row[1].text(), row[2].text(), row[3].text(), row[4].text()});
    }
  });
  return out;
}

std::vector<RowChain> PostgresqlRows::chains(const RunRow& run) {
  std::vector<RowChain> out;
  std::string end = chain_start(run.info);
  for (const WriterRow& writer : writers(run.id)) {
    end = writer_start(end, writer);
    out.push_back({.writer = writer.id, .start = end, .head = writer.chain});
  }
  return out;
}

std::string PostgresqlRows::fault_of_start(const RunRow& run) {
  std::string end = chain_start(run.info);
  for (const WriterRow& writer : writers(run.id)) {
    end = writer_start(end, writer);
    if (end == writer.start_chain) continue;
    return "its own columns or those of writer " + std::to_string(writer.id) +
           " were changed, or a writer before it is missing";
  }
  return end == run.chain ? "" : "its own columns were changed, or its last writers are missing";
}

// One step through the index per key, however many rows a key has.
std::vector<std::string> PostgresqlRows::measured_cases(const std::string& prefix) {
  std::vector<std::string> out;
  session_.read([&] {
    for (std::string last = prefix;;) {
      const auto next = session_.exec(
          "SELECT min(key COLLATE \"C\") FROM halmark.entry WHERE kind = 'measurement' AND key "
          "COLLATE \"C\" > $1",
          last);
      if (next[0][0].is_null()) return;
      last = next[0][0].text();
      if (!last.starts_with(prefix)) return;
      out.push_back(last);
    }
  });
  return out;
}

std::vector<RunSamples> PostgresqlRows::samples_by_run() {
  std::vector<RunSamples> out;
  session_.read([&] {
    for (const sql::Row& row : session_.exec(
             "SELECT e.run, count(*), sum(length(b.bytes)) FROM halmark.sample_block b JOIN "
             "halmark.entry e ON e.id = b.entry GROUP BY e.run ORDER BY e.run")) {
      out.push_back({row[0].integer(), row[1].integer(), row[2].integer()});
    }
  });
  return out;
}

// The server keeps what is free for later rows, and does not say how much it is.
DatabaseSize PostgresqlRows::size() {
  DatabaseSize out;
  session_.read([&] {
    out.rows = session_.exec("SELECT count(*) FROM halmark.entry")[0][0].integer();
    for (const char* table : {"run", "writer", "entry", "sample_block"}) {
      out.bytes += session_
                       .exec("SELECT pg_total_relation_size(('halmark.' || $1)::regclass)",
                             std::string(table))[0][0]
                       .integer();
    }
  });
  return out;
}

}  // namespace halmark::journal
