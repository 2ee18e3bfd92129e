// Where a results database is, and what lies beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace halmark {

// Whether there is a file of this name. A server says itself what it holds, so its URL counts as
// one.
bool is_database_there(const std::string& database);

// The storage of its studies: a file beside it, or the same database of a server.
std::string studies_of(const std::string& database);

// "FILE.db:7", where no file has that whole name, and "postgresql://HOST/NAME:7".
std::optional<std::pair<std::string, std::int64_t>> run_of_database(const std::string& text);

// What to do about rows that do not verify.
std::string remedy_of_damage(const std::string& database);

}  // namespace halmark
