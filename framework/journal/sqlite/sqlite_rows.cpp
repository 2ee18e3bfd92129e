#include "journal/sqlite/sqlite_rows.hpp"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <utility>

#include "core/text/digest.hpp"
#include "journal/file/damage.hpp"
#include "journal/file/open_file.hpp"
#include "journal/samples/stored_samples.hpp"
#include "journal/sqlite/schema.hpp"

namespace halmark::journal {
namespace {

// Texts of a query in the order of their marks.
struct RowCondition {
  std::string sql;
  std::vector<std::string> texts;

  void add(const std::string& term) { sql += (sql.empty() ? " WHERE " : " AND ") + term; }
  void add(const std::string& term, const std::string& text) {
    add(term);
    texts.push_back(text);
  }
  void bind(SQLite::Statement& statement) const {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      statement.bind(static_cast<int>(i) + 1, texts[i]);
    }
  }
};

RowCondition condition_of(const RowQuery& query) {
  RowCondition out;
  if (query.run) out.add("run = " + std::to_string(*query.run));
  if (!query.kind.empty()) out.add("kind = ?", query.kind);
  if (!query.key.empty()) out.add("key = ?", query.key);
  if (query.fingerprint) {
    out.add("run IN (SELECT id FROM run WHERE fingerprint = ?)", *query.fingerprint);
  }
  if (query.after != 0) out.add("id > " + std::to_string(query.after));
  return out;
}

RowCondition condition_of(const RunQuery& query) {
  RowCondition out;
  if (query.plan_hash) out.add("plan_hash = ?", *query.plan_hash);
  if (query.fingerprint) out.add("fingerprint = ?", *query.fingerprint);
  if (query.is_sweep) out.add("plan_text != ''");
  if (query.has_winners) out.add("id IN (SELECT run FROM entry WHERE kind = 'winner')");
  return out;
}

}  // namespace

// Damage that SQLite meets is named and refused, whatever was asked.
template <class Body>
auto SqliteRows::reading(Body body) const -> decltype(body()) {
  try {
    return body();
  } catch (const SQLite::Exception& e) {
    throw storage_error(&db_, e, "the rows cannot be read", path_);
  }
}

Error SqliteRows::damage(const std::string& what) const { return damaged_file(what, path_); }

void SqliteRows::in_one_state(const std::function<void()>& body) {
  reading([&] {
    SQLite::Transaction one_state(db_);
    body();
    one_state.commit();
  });
}

void SqliteRows::each_row(const RowQuery& query,
                          const std::function<void(const StoredRow&)>& visit) {
  reading([&] {
    const RowCondition condition = condition_of(query);
    SQLite::Statement rows(
        db_, "SELECT " +
                 (query.with_blocks ? columns_with_block(schema_version_of(db_))
                                    : std::string(entry_columns)) +
                 " FROM entry" + condition.sql + " ORDER BY id" +
                 (query.latest == 0 ? "" : " DESC LIMIT " + std::to_string(query.latest)));
    condition.bind(rows);
    while (rows.executeStep()) visit(row_of(rows));
  });
}

std::vector<std::int64_t> SqliteRows::run_ids(const RunQuery& query) {
  return reading([&] {
    const RowCondition condition = condition_of(query);
    SQLite::Statement runs(db_, "SELECT id FROM run" + condition.sql + " ORDER BY id");
    condition.bind(runs);
    std::vector<std::int64_t> out;
    while (runs.executeStep()) out.push_back(runs.getColumn(0).getInt64());
    return out;
  });
}

std::optional<std::int64_t> SqliteRows::latest_run(const RunQuery& query) {
  return reading([&]() -> std::optional<std::int64_t> {
    const RowCondition condition = condition_of(query);
    SQLite::Statement runs(db_, "SELECT max(id) FROM run" + condition.sql);
    condition.bind(runs);
    if (!runs.executeStep() || runs.getColumn(0).isNull()) return std::nullopt;
    return runs.getColumn(0).getInt64();
  });
}

void SqliteRows::each_run_where(const std::string& condition,
                                const std::function<void(const RunRow&)>& visit) {
  reading([&] {
    const bool has_checksums = schema_version_of(db_) >= blocks_version;
    SQLite::Statement runs(db_, std::string("SELECT id, chain, ") +
                                    (has_checksums ? "checksum, " : "NULL, ") + run_columns +
                                    " FROM run" + condition + " ORDER BY id");
    while (runs.executeStep()) {
      RunRow run{.id = runs.getColumn(0).getInt64(),
                 .info = run_info_of(runs, 3),
                 .chain = runs.getColumn(1).getString()};
      if (has_checksums) run.checksum = runs.getColumn(2).getInt64();
      visit(run);
    }
  });
}

void SqliteRows::each_run(const std::function<void(const RunRow&)>& visit) {
  each_run_where("", visit);
}

std::optional<RunRow> SqliteRows::run(std::int64_t id) {
  std::optional<RunRow> out;
  each_run_where(" WHERE id = " + std::to_string(id), [&](const RunRow& run) { out = run; });
  return out;
}

std::int64_t SqliteRows::last_run_of_rows() {
  return reading([&] { return db_.execAndGet("SELECT max(run) FROM entry").getInt64(); });
}

std::vector<RowChain> SqliteRows::chains(const RunRow& run) {
  return {{.writer = 0, .start = chain_start(run.info), .head = run.chain}};
}

std::string SqliteRows::fault_of_start(const RunRow& run) {
  // By kinds: the index of a run is ordered by kind first, so that its smallest id would be looked
  // for in all of its rows.
  return reading([&]() -> std::string {
    SQLite::Statement query(
        db_,
        std::string("WITH RECURSIVE kinds(kind) AS (SELECT min(kind) FROM entry WHERE run = ?1 "
                    "UNION ALL SELECT (SELECT min(kind) FROM entry WHERE run = ?1 AND kind > "
                    "kinds.kind) FROM kinds WHERE kinds.kind IS NOT NULL) SELECT ") +
            entry_columns +
            " FROM entry WHERE id = (SELECT min((SELECT min(id) FROM entry WHERE run = ?1 AND "
            "kind = kinds.kind)) FROM kinds WHERE kinds.kind IS NOT NULL)");
    query.bind(1, run.id);
    std::string chain = chain_start(run.info), stored = run.chain;
    if (query.executeStep()) {
      const StoredRow row = row_of(query);
      chain = sha256_of(chain + row.bytes());
      stored = row.chain;
    }
    return chain == stored ? "" : "its own columns or its first row were changed";
  });
}

// One step through the index per key, however many rows a key has.
std::vector<std::string> SqliteRows::measured_cases(const std::string& prefix) {
  return reading([&] {
    SQLite::Statement query(db_,
                            "SELECT min(key) FROM entry WHERE kind = 'measurement' AND key > ?");
    std::vector<std::string> out;
    for (std::string last = prefix;;) {
      query.reset();
      query.bind(1, last);
      if (!query.executeStep() || query.getColumn(0).isNull()) break;
      last = query.getColumn(0).getString();
      if (!last.starts_with(prefix)) break;
      out.push_back(last);
    }
    return out;
  });
}

std::vector<RunSamples> SqliteRows::samples_by_run() {
  return reading([&] { return stored_samples(db_); });
}

DatabaseSize SqliteRows::size() {
  return reading([&] { return database_size(db_); });
}

}  // namespace halmark::journal
