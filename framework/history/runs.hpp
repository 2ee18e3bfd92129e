// The runs of a database, of whatever command.
#pragma once

#include <string>
#include <vector>

#include "journal/store.hpp"

namespace halmark::history {

struct ListedRun {
  std::int64_t id = 0;
  RunInfo info;
  // Kernels that were measured; of these what broke, and what the validity gate did not believe.
  std::size_t rows = 0, failed = 0, invalid = 0;
  std::size_t configurations = 0;
};

// The latest `count`, oldest first. Throws Error (exit 2) where the database has none.
std::vector<ListedRun> list_runs(const Store& store, std::size_t count, const std::string& path);

}  // namespace halmark::history
