// Rows of the table `entry`: values on their way in, columns as they are stored on their way out.
#pragma once

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/json/json_type.hpp"
#include "journal/store.hpp"

namespace halmark::journal {

// What a value becomes, before its run, checksum and chain are added.
struct Entry {
  std::string_view kind;
  std::string key, body, samples;
  bool has_samples = false;
};
Entry entry_of(const Measurement& measurement);
Entry entry_of(const Evaluation& evaluation);
Entry entry_of(const Validation& validation);
Entry entry_of(const Winner& winner);
Entry entry_of(const Duet& duet);
Entry entry_of(const UsedPeaks& peaks);
Entry entry_of(const RunMachine& machine);

// Throws std::exception where body and samples are not those of a measurement.
Measurement measurement_from(const Json& body, std::string_view samples);

inline constexpr const char* entry_columns =
    "id, run, kind, key, body, samples, checksum, chain";  // as row_of reads them

struct StoredRow {
  std::int64_t id = 0, run = 0, checksum = 0;
  std::string kind, key, body, samples, chain;
  bool has_samples = false;

  std::string bytes() const;  // canonical encoding of the checksummed columns
};
StoredRow row_of(SQLite::Statement& query);

// SHA-256 of a run's own columns, at which its chain starts.
std::string chain_start(const RunInfo& run);

inline constexpr const char* run_columns =
    "command, plan_hash, plan_text, fingerprint, tool_version, tool_build, started_utc";
// `first`: the column of the query at which run_columns begin.
RunInfo run_info_of(SQLite::Statement& query, int first);

}  // namespace halmark::journal
