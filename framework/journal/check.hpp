// Reads a whole database for its checker: raw rows as stored, nothing judged.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halmark {

struct StoredRun {
  std::int64_t id = 0;
  std::string start_chain;   // SHA-256 of the run's own columns
  std::string chain;         // the head that is stored
  bool has_checksum = true;  // of its own columns, if it has one
};

struct StoredEntry {
  std::int64_t id = 0, run = 0, checksum = 0;
  std::string kind, key, body, samples, chain;
  std::string bytes;                 // canonical encoding of all checksummed columns
  std::optional<std::string> block;  // of samples, beside the row
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
  std::vector<std::string> foreign_parts;  // what the schema has beside halmark's own, or lacks
  std::vector<StoredRun> runs;
};

// One state of a file, opened read-only. Everything throws Error: as open_store_read_only does, and
// exit 2 where rows cannot be read.
class DatabaseSnapshot {
 public:
  explicit DatabaseSnapshot(const std::string& path);
  ~DatabaseSnapshot();
  DatabaseSnapshot(const DatabaseSnapshot&) = delete;
  DatabaseSnapshot& operator=(const DatabaseSnapshot&) = delete;

  StoredDatabase read() const;
  // Entries in order of (run, id).
  void for_each_entry(const std::function<void(const StoredEntry&)>& visit) const;

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace halmark
