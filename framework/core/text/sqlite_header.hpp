// What the first 100 bytes of an SQLite file say (sqlite.org/fileformat.html), read before the
// library touches the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace halmark {

// application_id of a results database: "HMK1".
inline constexpr std::int32_t journal_application_id = 0x484d4b31;

struct SqliteHeader {
  std::uint32_t application_id = 0, user_version = 0;
  std::uint64_t file_bytes = 0;  // pages times their size, when the header was written
};

// Nothing when the file is no SQLite database. Throws Error (exit 2) when it cannot be read.
std::optional<SqliteHeader> read_sqlite_header(const std::string& path);

}  // namespace halmark
