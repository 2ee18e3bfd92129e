#include "core/text/url.hpp"

#include <algorithm>
#include <cctype>

namespace halmark {
namespace {

constexpr std::string_view url_separator = "://";

std::string_view dialect_of(std::string_view scheme) { return scheme.substr(0, scheme.find('+')); }

}  // namespace

std::vector<PasswordText> passwords_in(const std::string& location) {
  std::vector<PasswordText> out;
  const std::size_t begin = location.find(url_separator);
  if (begin != std::string::npos) {
    // The last '@' before the query: a password may hold one, and a path that does loses nothing.
    const std::size_t authority = begin + url_separator.size();
    const std::size_t at = location.rfind('@', location.find('?', authority));
    const std::size_t colon = location.find(':', authority);
    if (at != std::string::npos && at > authority && colon < at) {
      out.push_back({location.substr(colon, at + 1 - colon), "@"});
    }
  }
  constexpr std::string_view key = "password=";
  for (std::size_t at = location.find(key); at != std::string::npos; at = location.find(key, at)) {
    const std::size_t end = std::min(location.find('&', at), location.size());
    out.push_back({location.substr(at, end - at), std::string(key) + "..."});
    at = end;
  }
  return out;
}

std::string with_passwords_hidden(std::string text, const std::vector<PasswordText>& passwords) {
  for (const auto& [password, shown] : passwords) {
    for (std::size_t at = text.find(password); at != std::string::npos;
         at = text.find(password, at + shown.size())) {
      text.replace(at, password.size(), shown);
    }
  }
  return text;
}

std::string without_password(const std::string& location) {
  return with_passwords_hidden(location, passwords_in(location));
}

std::string_view url_scheme(std::string_view location) {
  const std::size_t end = location.find(url_separator);
  if (end == std::string_view::npos || end < 2) return {};
  const std::string_view out = location.substr(0, end);
  const auto may_be = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '_' || c == '.';
  };
  return std::ranges::all_of(out, may_be) ? out : std::string_view();
}

bool is_postgresql_url(std::string_view location) {
  const std::string_view dialect = dialect_of(url_scheme(location));
  return dialect == "postgresql" || dialect == "postgres";
}

std::string with_options(std::string url,
                         const std::vector<std::pair<std::string, std::string>>& options) {
  for (const auto& [name, value] : options) {
    const std::size_t query = url.find('?');
    const std::string known = query == std::string::npos ? "" : '&' + url.substr(query + 1);
    if (known.find('&' + name + '=') != std::string::npos) continue;
    url += (query == std::string::npos ? '?' : '&') + name + '=' + value;
  }
  return url;
}

std::string libpq_url(const std::string& location) {
  const std::string_view scheme = url_scheme(location);
  return std::string(dialect_of(scheme)) + location.substr(scheme.size());
}

}  // namespace halmark
