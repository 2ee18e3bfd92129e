#include "journal/samples/stored_samples.hpp"

#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <filesystem>

#include "core/text/error.hpp"
#include "journal/file/open_file.hpp"
#include "journal/sqlite/schema.hpp"

namespace halmark::journal {
namespace {

std::int64_t pragma(SQLite::Database& db, const char* name) {
  return db.execAndGet(std::string("PRAGMA ") + name).getInt64();
}

}  // namespace

std::vector<RunSamples> stored_samples(SQLite::Database& db) {
  std::vector<RunSamples> out;
  if (schema_version_of(db) < blocks_version) return out;
  // By blocks: runs that are retired already are not looked at again.
  SQLite::Statement query(db,
                          "SELECT run, count(*), sum(length(bytes)) FROM sample_block CROSS JOIN "
                          "entry ON entry.id = sample_block.entry GROUP BY run ORDER BY run");
  while (query.executeStep()) {
    out.push_back({query.getColumn(0).getInt64(), query.getColumn(1).getInt64(),
                   query.getColumn(2).getInt64()});
  }
  return out;
}

RunSamples delete_samples(SQLite::Database& db, std::int64_t run) {
  constexpr const char* of_run =
      " FROM sample_block WHERE entry IN (SELECT id FROM entry WHERE run = ?)";
  RunSamples out{.run = run};
  SQLite::Statement query(db, std::string("SELECT count(*), total(length(bytes))") + of_run);
  query.bind(1, run);
  query.executeStep();
  out.rows = query.getColumn(0).getInt64();
  out.bytes = query.getColumn(1).getInt64();
  query.reset();
  SQLite::Statement deletion(db, std::string("DELETE") + of_run);
  deletion.bind(1, run);
  deletion.exec();
  return out;
}

DatabaseSize database_size(SQLite::Database& db) {
  const std::int64_t page = pragma(db, "page_size"), free = pragma(db, "freelist_count");
  return {.rows = db.execAndGet("SELECT count(*) FROM entry").getInt64(),
          .bytes = (pragma(db, "page_count") - free) * page,
          .free_bytes = free * page};
}

// A copy without gaps, and then the pages of the file anew through its -wal.
void shrink_database(SQLite::Database& db, const std::string& path) {
  const auto needed =
      static_cast<std::uintmax_t>(2 * pragma(db, "page_count") * pragma(db, "page_size"));
  const auto space = std::filesystem::space(std::filesystem::absolute(path).parent_path());
  if (space.available < needed) {
    throw Error(ExitCode::error,
                "the file is not made smaller: that takes " + std::to_string(needed >> 20) +
                    " MiB meanwhile, and " + std::to_string(space.available >> 20) + " are free",
                path, "its free pages are used by later rows");
  }
  db.exec("VACUUM");
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace halmark::journal
