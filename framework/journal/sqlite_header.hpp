// What the first 100 bytes of an SQLite file say (sqlite.org/fileformat.html), read before the
// library touches the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace halmark::journal {

struct SqliteHeader {
  std::uint32_t application_id = 0, user_version = 0;
  std::uint64_t file_bytes = 0;  // pages times their size, when the header was written
};

// Nothing when the file is no SQLite database, or cannot be read.
std::optional<SqliteHeader> read_sqlite_header(const std::string& path);

}  // namespace halmark::journal
