// Rows of the table `entry`: values on their way in, columns as they are stored on their way out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "journal/store.hpp"

namespace halmark::journal {

// Canonical encoding of its checksummed columns.
std::string bytes_of(std::int64_t run, const Entry& entry);

struct StoredRow {
  std::int64_t id = 0, run = 0, checksum = 0;
  std::string kind, key, body, samples, chain;  // samples: of rows up to version 2
  bool has_samples = false;
  std::int64_t writer = 0;           // on a server: whose chain it is part of
  std::optional<std::string> block;  // where the query asked for it

  std::string bytes() const;  // canonical encoding of the checksummed columns
};

// SHA-256 of a run's own columns, at which its chain starts.
std::string chain_start(const RunInfo& run);

// xxh3_64 of the same columns, as a signed number.
std::int64_t run_checksum(const RunInfo& run);

}  // namespace halmark::journal
