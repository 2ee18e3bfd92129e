#include "journal/postgresql/rows.hpp"

#include <utility>

#include "core/text/digest.hpp"
#include "journal/sqlite/schema.hpp"

namespace halmark::journal {
namespace {

using postgresql::text_at;

// Rows that are taken to this side at once: with their samples some tens of megabytes.
constexpr std::size_t rows_at_once = 512;

constexpr const char* server_entry_columns =
    "e.id, e.run, e.kind, e.key, e.body, e.checksum, e.chain, e.writer";

class ServerCondition {
 public:
  explicit ServerCondition(postgresql::Session& session) : session_(session) {}
  void add(const std::string& term) { sql_ += (sql_.empty() ? " WHERE " : " AND ") + term; }
  void add(const std::string& term, const std::string& text) { add(term + session_.quoted(text)); }
  void add(const std::string& term, std::int64_t value) { add(term + std::to_string(value)); }
  const std::string& sql() const { return sql_; }

 private:
  postgresql::Session& session_;
  std::string sql_;
};

std::string rows_sql(postgresql::Session& session, const RowQuery& query, std::int64_t after) {
  ServerCondition condition(session);
  if (query.run) condition.add("e.run = ", *query.run);
  if (query.writer) condition.add("e.writer = ", *query.writer);
  if (!query.kind.empty()) condition.add("e.kind = ", query.kind);
  if (!query.key.empty()) condition.add("e.key COLLATE \"C\" = ", query.key);
  if (query.fingerprint) {
    condition.add("e.run IN (SELECT id FROM halmark.run WHERE fingerprint = " +
                  session.quoted(*query.fingerprint) + ')');
  }
  if (after != 0) condition.add("e.id > ", after);
  const std::string limit = std::to_string(query.latest != 0 ? query.latest : rows_at_once);
  return std::string("SELECT ") + server_entry_columns + (query.with_blocks ? ", b.bytes" : "") +
         " FROM halmark.entry e" +
         (query.with_blocks ? " LEFT JOIN halmark.sample_block b ON b.entry = e.id" : "") +
         condition.sql() + " ORDER BY e.id" + (query.latest != 0 ? " DESC" : "") + " LIMIT " +
         limit;
}

std::string runs_condition(postgresql::Session& session, const RunQuery& query) {
  ServerCondition condition(session);
  if (query.plan_hash) condition.add("plan_hash = ", *query.plan_hash);
  if (query.fingerprint) condition.add("fingerprint = ", *query.fingerprint);
  if (query.is_sweep) condition.add("plan_text <> ''");
  if (query.has_winners) {
    condition.add(
        "EXISTS (SELECT 1 FROM halmark.entry e WHERE e.run = r.id AND e.kind = 'winner')");
  }
  return condition.sql();
}

StoredRow server_row(const pqxx::row& row) {
  StoredRow out{.id = row[0].as<std::int64_t>(),
                .run = row[1].as<std::int64_t>(),
                .checksum = row[5].as<std::int64_t>(),
                .kind = text_at(row, 2),
                .key = text_at(row, 3),
                .body = text_at(row, 4),
                .chain = text_at(row, 6)};
  out.writer = row[7].as<std::int64_t>();
  if (row.size() > 8 && !row[8].is_null()) out.block = bytea_bytes(text_at(row, 8));
  return out;
}

unsigned digit_of(char c) {
  return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10) & 0xfU;
}

}  // namespace

std::string bytea_text(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\\x";
  out.reserve(2 + 2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4U];
    out += digits[byte & 0xfU];
  }
  return out;
}

std::string bytea_bytes(std::string_view bytea) {
  std::string out;
  if (!bytea.starts_with("\\x")) return out;
  out.reserve(bytea.size() / 2);
  for (std::size_t i = 2; i + 1 < bytea.size(); i += 2) {
    out += static_cast<char>(digit_of(bytea[i]) << 4U | digit_of(bytea[i + 1]));
  }
  return out;
}

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
      const auto rows = session_.exec(rows_sql(session_, query, after).c_str());
      for (const pqxx::row& row : rows) {
        const StoredRow stored = server_row(row);
        after = stored.id;
        visit(stored);
      }
      if (query.latest != 0 || static_cast<std::size_t>(rows.size()) < rows_at_once) return;
    }
  });
}

std::vector<std::int64_t> PostgresqlRows::run_ids(const RunQuery& query) {
  std::vector<std::int64_t> out;
  session_.read([&] {
    const std::string sql =
        "SELECT r.id FROM halmark.run r" + runs_condition(session_, query) + " ORDER BY r.id";
    for (const pqxx::row& row : session_.exec(sql.c_str())) {
      out.push_back(row[0].as<std::int64_t>());
    }
  });
  return out;
}

std::optional<std::int64_t> PostgresqlRows::latest_run(const RunQuery& query) {
  std::optional<std::int64_t> out;
  session_.read([&] {
    const std::string sql = "SELECT max(r.id) FROM halmark.run r" + runs_condition(session_, query);
    const auto found = session_.exec(sql.c_str());
    if (!found[0][0].is_null()) out = found[0][0].as<std::int64_t>();
  });
  return out;
}

void PostgresqlRows::each_run_where(const std::string& condition,
                                    const std::function<void(const RunRow&)>& visit) {
  session_.read([&] {
    const std::string sql = std::string("SELECT id, checksum, chain, ") + run_columns +
                            " FROM halmark.run" + condition + " ORDER BY id";
    for (const pqxx::row& row : session_.exec(sql.c_str())) {
      visit({.id = row[0].as<std::int64_t>(),
             .info = {.command = text_at(row, 3),
                      .plan_hash = text_at(row, 4),
                      .plan_text = text_at(row, 5),
                      .fingerprint = text_at(row, 6),
                      .tool_version = text_at(row, 7),
                      .tool_build = text_at(row, 8),
                      .started_utc = text_at(row, 9)},
             .checksum = row[1].as<std::int64_t>(),
             .chain = text_at(row, 2)});
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
    out = session_.exec("SELECT coalesce(max(run), 0) FROM halmark.entry")[0][0].as<std::int64_t>();
  });
  return out;
}

std::vector<WriterRow> PostgresqlRows::writers(std::int64_t run) {
  std::vector<WriterRow> out;
  session_.read([&] {
    for (const pqxx::row& row : session_.exec(
             "SELECT id, node, started_utc, start_chain, chain FROM halmark.writer WHERE run = $1 "
             "ORDER BY id",
             run)) {
      out.push_back({row[0].as<std::int64_t>(), text_at(row, 1), text_at(row, 2), text_at(row, 3),
                     text_at(row, 4)});
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
      last = text_at(next[0], 0);
      if (!last.starts_with(prefix)) return;
      out.push_back(last);
    }
  });
  return out;
}

std::vector<RunSamples> PostgresqlRows::samples_by_run() {
  std::vector<RunSamples> out;
  session_.read([&] {
    for (const pqxx::row& row : session_.exec(
             "SELECT e.run, count(*), sum(length(b.bytes)) FROM halmark.sample_block b JOIN "
             "halmark.entry e ON e.id = b.entry GROUP BY e.run ORDER BY e.run")) {
      out.push_back(
          {row[0].as<std::int64_t>(), row[1].as<std::int64_t>(), row[2].as<std::int64_t>()});
    }
  });
  return out;
}

// The server keeps what is free for later rows, and does not say how much it is.
DatabaseSize PostgresqlRows::size() {
  DatabaseSize out;
  session_.read([&] {
    out.rows = session_.exec("SELECT count(*) FROM halmark.entry")[0][0].as<std::int64_t>();
    for (const char* table : {"run", "writer", "entry", "sample_block"}) {
      out.bytes += session_
                       .exec("SELECT pg_total_relation_size(('halmark.' || $1)::regclass)",
                             std::string(table))[0][0]
                       .as<std::int64_t>();
    }
  });
  return out;
}

}  // namespace halmark::journal
