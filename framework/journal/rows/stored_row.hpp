// Rows of the table `entry`: values on their way in, columns as they are stored on their way out.
#pragma once

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/json/json_type.hpp"
#include "journal/store.hpp"

namespace halmark::journal {

// What a value becomes, before its run, checksum and chain are added.
struct Entry {
  std::string_view kind;
  std::string key, body;
  std::string samples;  // the block beside the row
  bool has_samples = false;
};
Entry entry_of(const Measurement& measurement);
Entry entry_of(const Evaluation& evaluation);
Entry entry_of(const Validation& validation);
Entry entry_of(const Winner& winner);
Entry entry_of(const Duet& duet);
Entry entry_of(const Doubt& doubt);
Entry entry_of(const UsedPeaks& peaks);
Entry entry_of(const RunMachine& machine);
Entry entry_of(const Untried& untried);
Entry entry_of(const Retirement& retirement);

inline constexpr const char* entry_columns =
    "id, run, kind, key, body, samples, checksum, chain";  // as row_of reads them
// With the block beside the row, where files of the version have such.
std::string columns_with_block(int version);

struct StoredRow {
  std::int64_t id = 0, run = 0, checksum = 0;
  std::string kind, key, body, samples, chain;  // samples: of rows up to version 2
  bool has_samples = false;
  std::int64_t writer = 0;           // on a server: whose chain it is part of
  std::optional<std::string> block;  // where the query asked for it

  std::string bytes() const;  // canonical encoding of the checksummed columns
};
StoredRow row_of(SQLite::Statement& query);

// SHA-256 of a run's own columns, at which its chain starts.
std::string chain_start(const RunInfo& run);

inline constexpr const char* run_columns =
    "command, plan_hash, plan_text, fingerprint, tool_version, tool_build, started_utc";
// `first`: the column of the query at which run_columns begin.
RunInfo run_info_of(SQLite::Statement& query, int first);
// xxh3_64 of the same columns, as a signed number.
std::int64_t run_checksum(const RunInfo& run);
inline constexpr const char* insert_run =
    "INSERT INTO run(id, chain, checksum, command, plan_hash, plan_text, fingerprint, "
    "tool_version, tool_build, started_utc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
// Without an id it gets the next one. Copies what it binds.
void bind_run(SQLite::Statement& insert, std::optional<std::int64_t> id, const RunInfo& run,
              const std::string& chain);

}  // namespace halmark::journal
