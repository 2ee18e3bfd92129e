// Stands in for the folder postgresql where its client library is not installed.
#include "core/text/error.hpp"
#include "core/text/url.hpp"
#include "journal/check.hpp"
#include "journal/shared_store.hpp"

namespace halmark {
namespace {

Error no_postgresql(const std::string& url) {
  return {ExitCode::unfit, "this halmark was built without PostgreSQL", without_password(url),
          "build it where libpqxx-dev is installed, or name a file with --db"};
}

}  // namespace

std::unique_ptr<SharedStore> open_shared_store(const std::string& url, const std::string&) {
  throw no_postgresql(url);
}

std::unique_ptr<Store> open_shared_store_read_only(const std::string& url) {
  throw no_postgresql(url);
}

std::unique_ptr<DatabaseSnapshot> open_server_snapshot(const std::string& url) {
  throw no_postgresql(url);
}

}  // namespace halmark
