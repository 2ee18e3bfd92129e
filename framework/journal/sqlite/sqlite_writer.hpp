// The writing half of a results database: every insert is counted and looked at again, the schema
// is the one that was judged, and the file is still where its path says.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/text/error.hpp"
#include "journal/file/file_place.hpp"
#include "journal/rows/stored_row.hpp"
#include "journal/sqlite/file_session.hpp"

namespace halmark::journal {

class SqliteWriter {
 public:
  // Refers to both. Not `is_writing`: for a reader, whose writes SQLite refuses.
  SqliteWriter(SQLite::Database& db, FileSession& session, bool is_writing);

  std::int64_t begin_run(const RunInfo& run);
  void append(std::int64_t run, const std::vector<Entry>& entries);
  RunSamples retire_samples(std::int64_t run, const std::string& policy);
  void shrink();

 private:
  template <class Body>
  void commit(Body body);
  void require_same_schema();
  void append_rows(std::int64_t run, const std::vector<Entry>& entries);
  std::int64_t insert(std::int64_t run, const Entry& entry, std::string& chain);
  void require_in_place();
  void require_own_content();
  bool holds_all(const std::string& path) const;
  Error out_of_place(const std::string& fault, const char* last_row);
  std::string free_name() const;

  SQLite::Database& db_;
  FileSession& session_;
  std::string path_;
  std::unique_ptr<FilePlace> file_, log_;
  int schema_cookie_ = 0;  // PRAGMA schema_version: another one = somebody changed the schema
  std::int64_t written_ = 0;
  std::int64_t last_run_ = 0;  // that was written, and its chain then
  std::string last_chain_;
  std::optional<Error> lost_;  // the file is out of place: nothing more is written
};

}  // namespace halmark::journal
