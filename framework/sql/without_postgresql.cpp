// Stands in for postgresql.cpp where its client library is not installed.
#include <stdexcept>

#include "core/text/error.hpp"
#include "core/text/url.hpp"
#include "sql/postgresql.hpp"

namespace halmark::postgresql {
namespace {

[[noreturn]] void none_was_opened() { throw std::logic_error("no session was opened"); }

}  // namespace

struct Session::Connection {};

Session::Session(std::string url, SessionWords words) {
  throw Error(ExitCode::unfit, "this halmark was built without PostgreSQL", without_password(url),
              "build it where libpqxx-dev is installed" +
                  (words.instead.empty() ? "" : ", or " + words.instead));
}
Session::~Session() = default;
void Session::each(std::string_view, std::span<const sql::Value>, const sql::Visit&) {
  none_was_opened();
}
std::vector<std::int64_t> Session::insert(std::string_view, std::span<const sql::Value>) {
  none_was_opened();
}
void Session::exec_all(const std::string&) { none_was_opened(); }
void Session::read(const std::function<void()>&) { none_was_opened(); }
void Session::read_one_state(const std::function<void()>&) { none_was_opened(); }
void Session::write(const std::function<void()>&) { none_was_opened(); }

}  // namespace halmark::postgresql
