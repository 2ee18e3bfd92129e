#include <sqlite3.h>
#include <unistd.h>

#include "journal/shared_store.hpp"
#include "journal/sqlite/writer_lock.hpp"
#include "journal/store.hpp"

namespace halmark {

std::string storage_description() { return std::string("SQLite ") + sqlite3_libversion(); }

std::string this_node() { return journal::host_name() + " pid " + std::to_string(getpid()); }

}  // namespace halmark
