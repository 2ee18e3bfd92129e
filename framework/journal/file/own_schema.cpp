#include "journal/file/own_schema.hpp"

#include <SQLiteCpp/Statement.h>

#include <map>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "journal/file/damage.hpp"
#include "journal/file/open_file.hpp"
#include "journal/sqlite/schema.hpp"

namespace halmark::journal {
namespace {

struct Part {
  std::string type, sql;
};
using Parts = std::map<std::string, Part, std::less<>>;  // by name

Parts parts_of(SQLite::Database& db) {
  Parts out;
  SQLite::Statement query(
      db, "SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name");
  while (query.executeStep()) {
    out[query.getColumn(0).getString()] = {query.getColumn(1).getString(),
                                           query.getColumn(2).getString()};
  }
  return out;
}

Parts expected_parts(int version) {
  SQLite::Database db(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec(tables_of(version));
  return parts_of(db);
}

std::string with_article(const std::string& type) {
  return (type == "index" ? "an " : "a ") + type;
}

std::string quoted(const std::string& name) {
  constexpr std::size_t length_max = 60;  // of a name that may be as long as its author likes
  return " '" + (name.size() <= length_max ? name : name.substr(0, length_max) + "...") + '\'';
}

}  // namespace

std::vector<std::string> foreign_parts(SQLite::Database& db) {
  const Parts found = parts_of(db), expected = expected_parts(schema_version_of(db));
  std::vector<std::string> code, rest;  // the worst first
  for (const auto& [name, part] : found) {
    auto& out = part.type == "trigger" || part.type == "view" ? code : rest;
    const auto* own = find_value(expected, name);
    if (!own) {
      out.push_back(with_article(part.type) + quoted(name));
    } else if (own->type != part.type || own->sql != part.sql) {
      out.push_back("another " + part.type + quoted(name) + " than halmark makes");
    }
  }
  for (const auto& [name, part] : expected) {
    if (!found.contains(name)) rest.push_back("no " + part.type + quoted(name));
  }
  append_all(code, rest);
  return code;
}

void require_own_schema(SQLite::Database& db, const std::string& path) {
  const std::vector<std::string> foreign = foreign_parts(db);
  if (foreign.empty()) return;
  std::string more;
  if (foreign.size() > 1) more = " and " + std::to_string(foreign.size() - 1) + " more";
  throw refused("this database has " + foreign.front() + more + "; nothing is written into it",
                path, salvage_remedy(path));
}

void require_tables(SQLite::Database& db, const std::string& path, bool with_blocks) {
  const bool has_blocks = with_blocks && schema_version_of(db) >= blocks_version;
  SQLite::Statement query(db,
                          "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND (name IN "
                          "('run', 'entry') OR ?1 AND name = 'sample_block') AND sql LIKE "
                          "'CREATE TABLE%'");
  query.bind(1, has_blocks ? 1 : 0);
  query.executeStep();
  if (query.getColumn(0).getInt() == (has_blocks ? 3 : 2)) return;
  throw refused(std::string("this database has no tables ") +
                    (has_blocks ? "run, entry and sample_block" : "run and entry"),
                path, "restore a backup");
}

}  // namespace halmark::journal
