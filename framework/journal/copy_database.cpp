#include "journal/copy_database.hpp"

#include <SQLiteCpp/Exception.h>

#include "core/text/error.hpp"
#include "journal/file/empty_log.hpp"
#include "journal/file/new_file.hpp"
#include "journal/file/open_file.hpp"

namespace halmark {

void copy_results_database(const std::string& from, const std::string& to) {
  try {
    const journal::EmptyLog log(from);
    SQLite::Database source = journal::open_file(from, journal::Access::read_only);
    journal::copy_database(source, to);
  } catch (const SQLite::Exception& e) {
    throw Error(ExitCode::error, std::string("the copy cannot be made: ") + e.what(), to,
                "free space there, or name another folder");
  }
}

}  // namespace halmark
