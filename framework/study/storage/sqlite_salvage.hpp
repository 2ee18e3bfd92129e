// Copies what can be read of a SQLite file of studies into a new one, without the triggers and
// views that make a file be refused. The original is only read. Optuna's tables have no checksums:
// a value that was changed and still is one cannot be told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halmark {

struct SalvagedStudies {
  std::int64_t studies = 0, trials = 0;
  struct LeftOut {
    std::string table;
    std::int64_t row = 0;  // 0 = no single one
    std::string reason;
  };
  std::vector<LeftOut> left_out;
};

// Whether a file has the head of an SQLite file that is no results database, and no other
// program's.
bool may_hold_studies(const std::string& path);

// Throws Error: exit 2 where `from` holds no studies or nothing of it can be read, or where `to`
// exists; exit 1 for a storage error. Nothing is left of a file that is not complete.
SalvagedStudies salvage_studies(const std::string& from, const std::string& to);

}  // namespace halmark
