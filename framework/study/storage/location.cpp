// SQLAlchemy's grammar is NAME[+DRIVER]://[USER[:PASSWORD]@][HOST[:PORT]][/DATABASE][?QUERY]
// (sqlalchemy/engine/url.py). The driver is a module of Python: it says nothing about the place.
#include "study/storage/location.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/input/file_kind.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "core/text/sqlite_header.hpp"
#include "core/text/url.hpp"
#include "study/storage/open.hpp"

namespace halmark::journal {
namespace {

constexpr std::string_view separator = "://";

std::string named_places() { return std::string("name ") + study_locations; }

struct Scheme {
  std::string dialect, driver;
};

// Of "sqlite+pysqlite": the words around the sign.
Scheme scheme_of(const std::string& text) {
  const std::size_t plus = text.find('+');
  if (plus == std::string::npos) return {text, {}};
  return {text.substr(0, plus), text.substr(plus + 1)};
}

// What these say is how Python waits and converts, not which file it is.
bool is_of_python(std::string_view key) {
  constexpr std::string_view known[] = {"timeout", "check_same_thread", "isolation_level",
                                        "detect_types", "cached_statements"};
  return contains(known, key);
}

void check_query(std::string_view query, const std::string& location) {
  while (!query.empty()) {
    const std::string_view item = query.substr(0, query.find('&'));
    const std::string_view key = item.substr(0, item.find('='));
    if (!is_of_python(key)) {
      throw refused("'" + std::string(key) + "' of this SQLite URL is not understood here",
                    location, "name the file as sqlite:PATH");
    }
    query.remove_prefix(std::min(query.size(), item.size() + 1));
  }
}

// `rest`: behind "sqlite://".
StudyPlace sqlite_place(const std::string& rest, const Scheme& scheme,
                        const std::string& location) {
  if (!scheme.driver.empty() && scheme.driver != "pysqlite" && scheme.driver != "aiosqlite") {
    throw refused("the driver '" + scheme.driver + "' of SQLite is not understood here", location,
                  "name a plain file as sqlite:PATH");
  }
  const std::size_t mark = rest.find('?');
  if (mark != std::string::npos) check_query(std::string_view(rest).substr(mark + 1), location);
  const std::string file = rest.substr(0, mark);
  if (file.empty() || file == "/" || file == "/:memory:") return {StudyBackend::memory, {}};
  if (file.front() != '/') {
    throw refused("a SQLite URL names no host, and '" + file.substr(0, file.find('/')) +
                      "' stands in its place",
                  location, "sqlite:///relative.db and sqlite:////absolute.db have three and four");
  }
  // SQLAlchemy 2.1 decodes it, 2.0 does not: one text would be two files.
  if (file.find('%') != std::string::npos) {
    throw refused(
        "'%' in the path of a SQLite URL means one file to SQLAlchemy 2.0 and another to "
        "2.1",
        location, "name the file as sqlite:PATH");
  }
  return {StudyBackend::sqlite, file.substr(1)};
}

StudyPlace url_place(const std::string& location, std::size_t at) {
  const Scheme scheme = scheme_of(location.substr(0, at));
  const std::string rest = location.substr(at + separator.size());
  if (scheme.dialect == "sqlite") return sqlite_place(rest, scheme, location);
  if (is_postgresql_url(location)) return {StudyBackend::postgresql, libpq_url(location)};
  const std::string shown = without_password(location);
  if (scheme.dialect == "mysql" || scheme.dialect == "mariadb") {
    throw refused("studies in MySQL cannot be opened: this program speaks to SQLite and PostgreSQL",
                  shown,
                  "optuna.copy_study(..., to_storage='sqlite:///FILE') carries one over; then " +
                      named_places());
  }
  throw refused("studies cannot be kept at '" + scheme.dialect + "://'", shown, named_places());
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// An empty file becomes one; lines that are broken are the reader's to judge.
StudyPlace journal_at(const std::string& path) {
  std::error_code ignored;
  const bool is_read = std::filesystem::file_size(path, ignored) <= study_input.bytes_max;
  const std::string beginning = is_read ? beginning_of(path) : std::string();
  if (!beginning.empty()) require_kind(beginning, path, "study-journal");
  return {StudyBackend::journal, path};
}

}  // namespace

StudyPlace study_place(const std::string& location) {
  if (location == "memory:") return {StudyBackend::memory, {}};
  if (const std::string_view scheme = url_scheme(location); !scheme.empty()) {
    return url_place(location, scheme.size());
  }
  const std::size_t colon = location.find(':');
  const std::string kind = location.substr(0, colon);
  if (colon != std::string::npos && colon + 1 < location.size()) {
    if (kind == "sqlite") return {StudyBackend::sqlite, location.substr(colon + 1)};
    if (kind == "journal") return journal_at(location.substr(colon + 1));
  }
  // Optuna's own tools take the path of a file for its journal.
  if (is_file(location)) {
    if (read_sqlite_header(location)) return {StudyBackend::sqlite, location};
    return journal_at(location);
  }
  if (location.ends_with(".log")) return {StudyBackend::journal, location};
  throw refused("'" + location + "' does not say where studies are kept", {}, named_places());
}

}  // namespace halmark::journal

namespace halmark {

bool is_study_location(const std::string& word) {
  if (!url_scheme(word).empty() || word.starts_with("sqlite:") || word.starts_with("journal:")) {
    return true;
  }
  std::error_code ignored;
  return std::filesystem::is_regular_file(word, ignored) &&
         (word.ends_with(".log") || read_sqlite_header(word));
}

}  // namespace halmark
