// The independent checker of a results database. Changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halmark {

struct DatabaseFinding {
  std::string table;  // "entry", "run", "schema", "file"
  std::int64_t row = 0;
  std::string column;  // "checksum", "chain", ...
  std::string text;
};

struct DatabaseCheck {
  std::int64_t runs = 0, entries = 0;
  std::vector<DatabaseFinding> findings;
  struct Head {
    std::int64_t run;
    std::string chain;
  };
  std::vector<Head> heads;
};

// SQLite's integrity, foreign keys, the schema, every row checksum, every chain, and every winner
// against the measurements it was drawn from. A chain that was
// rewritten as a whole is found only by comparing its head with a printed one.
DatabaseCheck check_database(const std::string& path);

}  // namespace halmark
