// What the check of a database found, as text and as JSON, and the head that its user noted.
#pragma once

#include <string>

#include "core/json/json_type.hpp"
#include "verify/database.hpp"

namespace halmark {

// `chain` as a person copied it from a report: the digits may have become upper case. Nothing where
// it is empty. Throws Error (exit 2) where it is no head, and for a run without one.
std::optional<NotedHead> noted_head(const std::string& chain, std::optional<std::int64_t> run);

std::string database_check_text(const DatabaseCheck& check, const std::string& path);
// `is_noted`: with the key `noted`, null where no run has the head.
Json database_check_json(const DatabaseCheck& check, const std::string& path, bool is_noted);

}  // namespace halmark
