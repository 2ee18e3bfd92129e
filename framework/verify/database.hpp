// The independent checker of a results database. Changes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halmark {

struct DatabaseFinding {
  std::string table;  // "entry", "run", "schema", "file"
  std::int64_t row = 0;
  std::string column;  // "checksum", "chain", ...
  std::string text;
};

// A head that somebody noted elsewhere: printed in a report, sent with one.
struct NotedHead {
  std::string chain;                // 64 hexadecimal digits
  std::optional<std::int64_t> run;  // the run that it is of, where that is known
};

struct DatabaseCheck {
  std::int64_t runs = 0, entries = 0;
  std::vector<DatabaseFinding> findings;
  struct Head {
    std::int64_t run;
    std::string chain;
  };
  std::vector<Head> heads;
  std::map<std::int64_t, std::int64_t> retired;  // by run: rows whose samples are
  // Where the noted head was found. Rows behind it are of later: a run that went on.
  struct Noted {
    std::int64_t run = 0, rows_behind = 0;
  };
  std::optional<Noted> noted;
};

// SQLite's integrity, foreign keys, the schema, every row checksum and chain; medians and intervals
// of measurements from their samples, unless a row retires these; estimates and winners from the
// measurements that they were drawn from. Samples that were rewritten together with all that
// follows from them are found only by comparing a head with one noted elsewhere: no run that has,
// or had, that head is a finding.
DatabaseCheck check_database(const std::string& path,
                             const std::optional<NotedHead>& noted = std::nullopt);

// Throws Error (exit 2) with the first finding, if there is any.
void require_sound_database(const std::string& path);

}  // namespace halmark
