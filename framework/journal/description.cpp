#include <sqlite3.h>

#include "journal/store.hpp"

namespace halmark {

std::string storage_description() { return std::string("SQLite ") + sqlite3_libversion(); }

}  // namespace halmark
