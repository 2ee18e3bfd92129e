#include "journal/sqlite/sqlite_rows.hpp"

#include "core/text/digest.hpp"
#include "journal/file/damage.hpp"
#include "journal/rows/row_sql.hpp"

namespace halmark::journal {

Error SqliteRows::damage(const std::string& what) const { return damaged_file(what, location()); }

std::vector<RowChain> SqliteRows::chains(const RunRow& run) {
  return {{.writer = 0, .start = chain_start(run.info), .head = run.chain}};
}

std::string SqliteRows::fault_of_start(const RunRow& run) {
  std::string chain = chain_start(run.info), stored = run.chain;
  // By kinds: the index of a run is ordered by kind first, so that its smallest id would be looked
  // for in all of its rows.
  each(
      "WITH RECURSIVE kinds(kind) AS (SELECT min(kind) FROM entry WHERE run = ?1 UNION ALL SELECT "
      "(SELECT min(kind) FROM entry WHERE run = ?1 AND kind > kinds.kind) FROM kinds WHERE "
      "kinds.kind IS NOT NULL) " +
          select_rows(false) +
          " WHERE e.id = (SELECT min((SELECT min(id) FROM entry WHERE run = ?1 AND kind = "
          "kinds.kind)) FROM kinds WHERE kinds.kind IS NOT NULL)",
      {run.id}, [&](const sql::Row& row) {
        const StoredRow first = row_from(row);
        chain = sha256_of(chain + first.bytes());
        stored = first.chain;
      });
  return chain == stored ? "" : "its own columns or its first row were changed";
}

DatabaseSize SqliteRows::size() {
  const std::int64_t page = number("PRAGMA page_size"), free = number("PRAGMA freelist_count");
  return {.rows = number("SELECT count(*) FROM entry"),
          .bytes = (number("PRAGMA page_count") - free) * page,
          .free_bytes = free * page};
}

void SqliteRows::each_row_of_table(const std::function<void(const StoredRow&)>& visit) {
  each(select_rows(has_blocks(), " NOT INDEXED") + " ORDER BY e.run, e.id", {},
       [&](const sql::Row& row) { visit(row_from(row)); });
}

}  // namespace halmark::journal
