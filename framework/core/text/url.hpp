// Places that are named by a URL.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halmark {

// A location as messages and records may show it: without the password of its authority
// (USER:PASSWORD@HOST) and of its query (password=...).
std::string without_password(const std::string& location);

// A password within a location, with what stands around it, and what is shown instead.
struct PasswordText {
  std::string text, shown;  // ":secret@" and "@", "password=secret" and "password=..."
};
std::vector<PasswordText> passwords_in(const std::string& location);
std::string with_passwords_hidden(std::string text, const std::vector<PasswordText>& passwords);

// "sqlite+pysqlite" of "sqlite+pysqlite:///file.db"; "" of what is no URL, as a path.
std::string_view url_scheme(std::string_view location);

// Whether it names a database in a PostgreSQL server: postgresql://, postgres://, each with or
// without the driver that SQLAlchemy writes (+psycopg2).
bool is_postgresql_url(std::string_view location);
// With further options of its query, of which those that it has already stay as they are.
std::string with_options(std::string url,
                         const std::vector<std::pair<std::string, std::string>>& options);
// As libpq reads it: without a driver.
std::string libpq_url(const std::string& location);

}  // namespace halmark
