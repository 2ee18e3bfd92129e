// The -wal beside a database, judged before SQLite reads it. SQLite takes a log up to its first
// frame that does not hold and forgets the rest, which is right for a commit that was cut short,
// and loses stored rows without a word where a byte rotted before others that are whole.
#pragma once

#include <string>

namespace halmark::journal {

// Empty where the log is whole, absent, or ends in a commit that was never finished; else what is
// damaged, and that commits lie behind it.
std::string fault_of_log(const std::string& log_path);

}  // namespace halmark::journal
