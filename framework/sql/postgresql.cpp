#include "sql/postgresql.hpp"

#include "core/module.hpp"
#include "core/text/url.hpp"

namespace halmark::postgresql {

Session::Session(const std::string& url, const SessionWords& words) {
#ifdef HALMARK_HAS_POSTGRESQL
  using Connect = Connection*(const std::string& url, const SessionWords& words);
  static const auto connect = module_function<Connect>("postgresql", "halmark_connect");
  connection_.reset(connect(url, words));
#else
  throw Error(ExitCode::unfit, "this halmark was built without PostgreSQL", without_password(url),
              "build it where libpqxx-dev is installed" +
                  (words.instead.empty() ? "" : ", or " + words.instead));
#endif
}

}  // namespace halmark::postgresql
