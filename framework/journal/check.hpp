// Reads a whole database for its checker: raw rows as stored, nothing judged.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace halmark {

struct StoredRun {
  std::int64_t id = 0;
  std::string start_chain;  // SHA-256 of the run's own columns
  std::string chain;        // the head that is stored
};

struct StoredEntry {
  std::int64_t id = 0, run = 0, checksum = 0;
  std::string kind, chain;
  std::string bytes;        // canonical encoding of all checksummed columns
  std::string winner_body;  // JSON, of winners only
};

struct StoredDatabase {
  std::vector<std::string> integrity;  // PRAGMA integrity_check, without "ok"
  struct Orphan {
    std::string table;
    std::int64_t row;
    std::string column;
    std::string parent;  // the table that has no such row
  };
  std::vector<Orphan> orphans;
  std::string schema, expected_schema;  // normalised table and index texts
  std::vector<StoredRun> runs;
};

// Opens read-only. Throws as open_store_read_only does.
StoredDatabase read_database(const std::string& path);
// Entries in order of (run, id).
void for_each_entry(const std::string& path, const std::function<void(const StoredEntry&)>& visit);

}  // namespace halmark
