// What a results database says of one device: of each kernel the rows of the newest run that has
// it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "journal/store.hpp"

namespace halmark::history {

struct StoredRows {
  std::vector<Measurement> rows;
  std::string device;                           // "cpu:0"
  std::string fingerprint;                      // of the machine
  std::vector<std::int64_t> runs;               // that were looked at, newest first
  std::optional<UsedPeaks> peaks;               // that the newest run stored
  std::map<std::string, std::size_t> left_out;  // reason -> rows
};

// Of one run, or of the latest runs of the machine that measured last. Rows are of one device, that
// with most of them. Throws Error (exit 2) for a foreign or damaged database and one without rows.
StoredRows stored_rows(const Store& store, const std::string& path,
                       std::optional<std::int64_t> run);

}  // namespace halmark::history
