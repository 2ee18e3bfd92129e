// Stands in for the folder postgresql where its client library is not installed.
#include "core/text/error.hpp"
#include "core/text/url.hpp"
#include "study/storage/backends.hpp"

namespace halmark::journal {

std::unique_ptr<StudyStore> open_postgresql_studies(const std::string& url, StudyAccess) {
  throw Error(ExitCode::unfit, "this halmark was built without PostgreSQL", without_password(url),
              "build it where libpqxx-dev is installed, or keep the studies in sqlite:PATH");
}

}  // namespace halmark::journal
