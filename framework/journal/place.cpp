#include "journal/place.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/text/url.hpp"

namespace halmark {
namespace {

// "HOST:5432" ends in no run: one stands behind the name of a database.
bool names_a_database(const std::string& text) {
  if (!is_postgresql_url(text)) return true;
  return text.find_first_of("/?", url_scheme(text).size() + 3) != std::string::npos;
}

}  // namespace

bool is_database_there(const std::string& database) {
  std::error_code absent;
  return is_postgresql_url(database) || std::filesystem::exists(database, absent);
}

std::string studies_of(const std::string& database) {
  return is_postgresql_url(database) ? database : "sqlite:" + database + ".study";
}

std::optional<std::pair<std::string, std::int64_t>> run_of_database(const std::string& text) {
  constexpr std::size_t digits_max = 18;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon + 1 == text.size()) return std::nullopt;
  const std::string number = text.substr(colon + 1), database = text.substr(0, colon);
  const bool is_number =
      number.size() <= digits_max &&
      std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c) != 0; });
  std::error_code absent;
  if (!is_number || !names_a_database(database) || std::filesystem::exists(text, absent)) {
    return std::nullopt;
  }
  return std::pair(database, std::stoll(number));
}

std::string remedy_of_damage(const std::string& database) {
  if (is_postgresql_url(database)) return "restore a backup of the database (pg_restore)";
  return "'halmark salvage " + database + " NEW.db' copies the rest";
}

}  // namespace halmark
