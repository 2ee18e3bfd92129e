// Reads a whole database for its checker: raw rows as stored, nothing judged.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "journal/run_head.hpp"

namespace halmark {

struct StoredRun {
  std::int64_t id = 0;
  std::string start_chain;       // SHA-256 of the run's own columns
  std::vector<RowChain> chains;  // of its writers, by their ids, with the heads that are stored
  bool has_checksum = true;      // of its own columns, if it has one
  std::string fault;             // of the list of its writers; "" = none
};

struct StoredEntry {
  std::int64_t id = 0, run = 0, checksum = 0, writer = 0;
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

// A database, opened read-only. Everything throws Error: as open_store_read_only does, and exit 2
// where rows cannot be read.
class DatabaseSnapshot {
 public:
  virtual ~DatabaseSnapshot() = default;
  // What `body` asks is answered out of one state of the database.
  virtual void in_one_state(const std::function<void()>& body) = 0;
  virtual StoredDatabase read() = 0;
  // Entries in order of (run, id).
  virtual void for_each_entry(const std::function<void(const StoredEntry&)>& visit) = 0;
};

// Of a file, or of a server's database by its URL.
std::unique_ptr<DatabaseSnapshot> open_snapshot(const std::string& database);
std::unique_ptr<DatabaseSnapshot> open_server_snapshot(const std::string& url);

}  // namespace halmark
