// Copies what is sound of a damaged or foreign results database. The original is only read.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace halmark {

struct LeftOut {
  std::string table;     // "run", "entry", "schema"
  std::int64_t row = 0;  // 0 = no single one
  std::string reason;
};

struct SalvagedRun {
  std::int64_t id = 0;
  std::string stored_head, head;  // in the original and in the copy; alike where nothing is missing
  std::int64_t rows = 0;
};

struct SalvageCopy {
  std::vector<SalvagedRun> runs;
  std::int64_t entries = 0;
  std::vector<LeftOut> left_out;
};

// Into the new file `to`, which must not exist: runs that can be read, and of these the entries
// that can be read and have their checksum, but for those of the ids in `except`. Ids and columns
// stay; chains are drawn anew, and are the old ones where no row of the run is missing. Throws
// Error (exit 2) where the original is no results database or has neither table.
SalvageCopy copy_sound_rows(const std::string& from, const std::string& to,
                            const std::set<std::int64_t>& except);

// What SQLite keeps beside a database file goes with it.
void discard_database(const std::string& path);
// Gives a complete file its name, and no other file's. Throws Error (exit 2) where it is taken.
void name_database(const std::string& temporary, const std::string& name);
void require_no_database(const std::string& name);

}  // namespace halmark
