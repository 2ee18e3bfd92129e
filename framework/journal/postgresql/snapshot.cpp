// A server's database for its checker: raw rows as stored, nothing judged.
#include "core/text/url.hpp"
#include "journal/check.hpp"
#include "journal/postgresql/rows.hpp"
#include "journal/postgresql/tables.hpp"
#include "journal/rows/stored_entry.hpp"

namespace halmark {
namespace {

using namespace journal;

// Foreign keys hold unless somebody dropped or circumvented them. A row names a writer of its run.
constexpr const char* orphans_sql =
    "SELECT 'entry', e.id, 'run', 'run' FROM halmark.entry e LEFT JOIN halmark.run r ON r.id = "
    "e.run WHERE r.id IS NULL UNION ALL SELECT 'entry', e.id, 'writer', 'writer' FROM "
    "halmark.entry e LEFT JOIN halmark.writer w ON w.id = e.writer AND w.run = e.run WHERE w.id IS "
    "NULL UNION ALL SELECT 'writer', w.id, 'run', 'run' FROM halmark.writer w LEFT JOIN "
    "halmark.run r ON r.id = w.run WHERE r.id IS NULL UNION ALL SELECT 'sample_block', b.entry, "
    "'entry', 'entry' FROM halmark.sample_block b LEFT JOIN halmark.entry e ON e.id = b.entry "
    "WHERE e.id IS NULL ORDER BY 1, 2";

class ServerSnapshot : public DatabaseSnapshot {
 public:
  explicit ServerSnapshot(const std::string& url)
      : session_(libpq_url(url), {.store = "the results database",
                                  .rows = "the last rows",
                                  .instead = "name a file with --db"}) {
    session_.read([&] { require_tables(session_); });
  }

  void in_one_state(const std::function<void()>& body) override { session_.read_one_state(body); }

  StoredDatabase read() override {
    StoredDatabase out;
    session_.read([&] {
      out.foreign_parts = foreign_table_parts(session_);
      for (const sql::Row& row : session_.exec(orphans_sql)) {
        out.orphans.push_back({row[0].text(), row[1].integer(), row[2].text(), row[3].text()});
      }
      rows_.each_run([&](const RunRow& run) {
        out.runs.push_back({.id = run.id,
                            .start_chain = chain_start(run.info),
                            .chains = rows_.chains(run),
                            .has_checksum = *run.checksum == run_checksum(run.info),
                            .fault = rows_.fault_of_start(run)});
      });
    });
    return out;
  }

  void for_each_entry(const std::function<void(const StoredEntry&)>& visit) override {
    session_.read([&] {
      for (const std::int64_t run : rows_.run_ids({})) {
        rows_.each_row({.run = run, .with_blocks = true},
                       [&](const StoredRow& row) { visit(checked_entry(row)); });
      }
    });
  }

 private:
  postgresql::Session session_;
  PostgresqlRows rows_{session_};
};

}  // namespace

std::unique_ptr<DatabaseSnapshot> open_server_snapshot(const std::string& url) {
  return std::make_unique<ServerSnapshot>(url);
}

}  // namespace halmark
