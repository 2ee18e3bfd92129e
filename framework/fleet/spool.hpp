// Rows of an agent whose server is away: a results database of their own on the local disk, with
// the same checksums, until each unit was delivered once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fleet/work_unit.hpp"
#include "journal/store.hpp"

namespace halmark::fleet {

class Spool {
 public:
  explicit Spool(std::string path) : path_(std::move(path)) {}

  // Committed when it returns. Throws Error (exit 1) where the disk does not take it.
  void keep(std::int64_t agent, const WorkUnit& unit, const std::vector<Measurement>& rows);
  bool is_empty() const;

  struct Kept {
    std::int64_t agent = 0;
    WorkUnit unit;  // id, run and attempt alone
    std::vector<Measurement> rows;
  };
  // Of this process and of one before it that was killed. Throws Error (exit 2) where the file does
  // not hold.
  std::vector<Kept> all() const;
  // After the last was delivered.
  void clear();

 private:
  std::string path_;
};

}  // namespace halmark::fleet
