#include "journal/rows/row_source.hpp"

#include "journal/rows/row_sql.hpp"
#include "journal/sqlite/schema.hpp"

namespace halmark::journal {
namespace {

// Rows that are taken from a server at once: with their samples some tens of megabytes.
constexpr std::size_t rows_at_once = 512;

// Values in the order of their marks.
struct Condition {
  std::string text;
  std::vector<sql::Value> values = {};

  void add(const char* term) { (text += text.empty() ? " WHERE " : " AND ") += term; }
  void add(const char* term, sql::Value value) {
    add(term);
    values.push_back(std::move(value));
  }
};

Condition condition_of(const RowQuery& query, std::int64_t after) {
  Condition out;
  if (query.run) out.add("e.run = ?", *query.run);
  if (query.writer) out.add("e.writer = ?", *query.writer);
  if (!query.kind.empty()) out.add("e.kind = ?", query.kind);
  if (!query.key.empty()) out.add("e.key {bytewise} = ?", query.key);
  if (query.fingerprint) {
    out.add("e.run IN (SELECT id FROM {run} WHERE fingerprint = ?)", *query.fingerprint);
  }
  if (after != 0) out.add("e.id > ?", after);
  return out;
}

Condition condition_of(const RunQuery& query) {
  Condition out;
  if (query.plan_hash) out.add("plan_hash = ?", *query.plan_hash);
  if (query.fingerprint) out.add("fingerprint = ?", *query.fingerprint);
  if (query.is_sweep) out.add("plan_text <> ''");
  if (query.has_winners) {
    out.add("EXISTS (SELECT 1 FROM {entry} e WHERE e.run = r.id AND e.kind = 'winner')");
  }
  return out;
}

}  // namespace

void RowSource::each(std::string_view text, const std::vector<sql::Value>& values,
                     const sql::Visit& visit) {
  session_.read([&] { session_.each(row_sql(text, session_.dialect()), values, visit); });
}

std::int64_t RowSource::number(std::string_view text) {
  std::int64_t out = 0;
  each(text, {}, [&](const sql::Row& row) { out = row[0].integer(); });
  return out;
}

bool RowSource::has_blocks() {
  return session_.dialect() != sql::Dialect::sqlite ||
         number("PRAGMA user_version") >= blocks_version;
}

void RowSource::each_row(const RowQuery& query,
                         const std::function<void(const StoredRow&)>& visit) {
  const bool is_in_parts = session_.dialect() != sql::Dialect::sqlite && query.latest == 0;
  const std::size_t limit = is_in_parts ? rows_at_once : query.latest;
  const std::string select = select_rows(query.with_blocks && has_blocks());
  const std::string order = std::string(" ORDER BY e.id") + (query.latest != 0 ? " DESC" : "") +
                            (limit != 0 ? " LIMIT " + std::to_string(limit) : "");
  session_.read([&] {
    std::size_t rows = 0;
    std::int64_t after = query.after;
    do {
      const Condition condition = condition_of(query, after);
      rows = 0;
      each(select + condition.text + order, condition.values, [&](const sql::Row& row) {
        const StoredRow stored = row_from(row);
        after = stored.id;
        ++rows;
        visit(stored);
      });
    } while (is_in_parts && rows == limit);
  });
}

std::vector<std::int64_t> RowSource::run_ids(const RunQuery& query) {
  const Condition condition = condition_of(query);
  std::vector<std::int64_t> out;
  each("SELECT r.id FROM {run} r" + condition.text + " ORDER BY r.id", condition.values,
       [&](const sql::Row& row) { out.push_back(row[0].integer()); });
  return out;
}

std::optional<std::int64_t> RowSource::latest_run(const RunQuery& query) {
  const Condition condition = condition_of(query);
  std::optional<std::int64_t> out;
  each("SELECT max(r.id) FROM {run} r" + condition.text, condition.values,
       [&](const sql::Row& row) {
         if (!row[0].is_null()) out = row[0].integer();
       });
  return out;
}

void RowSource::each_run(const std::string& condition, const std::vector<sql::Value>& values,
                         const std::function<void(const RunRow&)>& visit) {
  each(std::string("SELECT id, chain, ") + (has_blocks() ? "checksum, " : "NULL, ") +
           run_columns() + " FROM {run}" + condition + " ORDER BY id",
       values, [&](const sql::Row& row) {
         RunRow run{.id = row[0].integer(), .info = run_from(row, 3), .chain = row[1].text()};
         if (!row[2].is_null()) run.checksum = row[2].integer();
         visit(run);
       });
}

std::optional<RunRow> RowSource::run(std::int64_t id) {
  std::optional<RunRow> out;
  each_run(" WHERE id = ?", {id}, [&](const RunRow& run) { out = run; });
  return out;
}

std::int64_t RowSource::last_run_of_rows() { return number("SELECT max(run) FROM {entry}"); }

// One step through the index per key, however many rows a key has.
std::vector<std::string> RowSource::measured_cases(const std::string& prefix) {
  std::vector<std::string> out;
  session_.read([&] {
    for (std::string last = prefix;;) {
      const std::size_t known = out.size();
      each(
          "SELECT min(key {bytewise}) FROM {entry} WHERE kind = 'measurement' AND key {bytewise} > "
          "?",
          {last}, [&](const sql::Row& row) {
            if (row[0].is_null() || !row[0].text().starts_with(prefix)) return;
            out.push_back(last = row[0].text());
          });
      if (out.size() == known) return;
    }
  });
  return out;
}

// By blocks: runs that are retired already are not looked at again.
std::vector<RunSamples> RowSource::samples_by_run() {
  std::vector<RunSamples> out;
  if (!has_blocks()) return out;
  each(
      "SELECT e.run, count(*), sum(length(b.bytes)) FROM {sample_block} b CROSS JOIN {entry} e "
      "WHERE e.id = b.entry GROUP BY e.run ORDER BY e.run",
      {}, [&](const sql::Row& row) {
        out.push_back({row[0].integer(), row[1].integer(), row[2].integer()});
      });
  return out;
}

}  // namespace halmark::journal
