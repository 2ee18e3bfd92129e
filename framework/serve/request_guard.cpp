#include "serve/request_guard.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>

#include "core/lists.hpp"
#include "core/text/clean_text.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "serve/limits.hpp"

namespace halmark::serve {
namespace {

constexpr std::string_view api = "/api/";

// Without a difference in time that says how many characters were right. `b` is not empty.
bool is_same_secret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (const auto i : indices(a)) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i % b.size()]);
  }
  return difference == 0;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    if (!next.is_valid) return false;
    text.remove_prefix(next.length);
  }
  return true;
}

// Decodes %XX and, of a query, '+'. Nothing for a broken escape, a control character and what is no
// UTF-8: two names that differ in such bytes alone would be one in an answer.
std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i] == '+' ? ' ' : text[i];
    if (text[i] == '%') {
      if (i + 2 >= text.size() || hex_digit(text[i + 1]) < 0 || hex_digit(text[i + 2]) < 0) {
        return std::nullopt;
      }
      c = static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
    out += c;
  }
  if (!is_utf8(out)) return std::nullopt;
  return out;
}

// The host of "http://host:port/path"; "" of a target that is a path.
std::string_view host_of_target(std::string_view target) {
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return {};
  target.remove_prefix(scheme + 3);
  return target.substr(0, target.find_first_of("/?#"));
}

Rejection foreign_host(std::string_view host) {
  return {403, "requests to '" + printable(host) + "' are not answered here",
          "open the address that halmark serve printed, or name the host with --allow-host"};
}

}  // namespace

std::size_t RequestHead::count(std::string_view name) const {
  return as_size(std::ranges::count(
      headers, name, [](const auto& header) { return std::string_view(header.first); }));
}

std::optional<std::string> RequestHead::only(std::string_view name) const {
  if (count(name) != 1) return std::nullopt;
  return std::ranges::find(headers, name,
                           [](const auto& header) { return std::string_view(header.first); })
      ->second;
}

bool Guard::is_own_host(std::string_view host) const {
  const std::string wanted = lower_case(host);
  const std::string behind = ":" + std::to_string(port);
  const auto is = [&](const std::string& name) {
    return wanted == name + behind || (port == 80 && wanted == name);
  };
  if (is("localhost") || is("127.0.0.1") || is("[::1]")) return true;
  // A reverse proxy may pass its own name without a port.
  return std::ranges::any_of(hosts, [&](const std::string& name) {
    return is(lower_case(name)) || wanted == lower_case(name);
  });
}

std::optional<Rejection> Guard::rejection(const RequestHead& head) const {
  const auto host = head.only("host");
  if (!host) return Rejection{400, "a request states exactly one Host", ""};
  if (!is_own_host(*host)) return foreign_host(*host);
  const std::string_view named = host_of_target(head.target);
  if (!named.empty() && !is_own_host(named)) return foreign_host(named);
  if (head.headers.size() > headers_max) return Rejection{431, "too many headers", ""};
  if (head.count("content-encoding") > 0) {
    return Rejection{415, "compressed bodies are not read", "send it as it is"};
  }
  if (head.count("content-length") + head.count("transfer-encoding") > 1) {
    return Rejection{400, "a body has one length", ""};
  }
  const auto origin = head.only("origin");
  const bool is_foreign = head.count("origin") > 0 &&
                          (!origin || origin->find("://") == std::string::npos ||
                           !is_own_host(std::string_view(*origin).substr(origin->find("://") + 3)));
  if (is_foreign) return Rejection{403, "requests of other sites are not answered", ""};
  if (head.only("sec-fetch-site").value_or("") == "cross-site" &&
      head.only("sec-fetch-mode").value_or("") != "navigate") {
    return Rejection{403, "requests of other sites are not answered", ""};
  }
  if (head.method == "GET" || head.method == "HEAD") return std::nullopt;
  if (head.method != "POST") return Rejection{405, "only GET, HEAD and POST are answered", ""};
  if (!origin) return Rejection{403, "what acts states its Origin", ""};
  const auto type = head.only("content-type");
  if (!type || !lower_case(*type).starts_with("application/json")) {
    return Rejection{415, "what acts is application/json", ""};
  }
  const auto said = head.only("x-halmark-token");
  if (token.empty() || !said || !is_same_secret(*said, token)) {
    return Rejection{403, "the token is missing or of another start of the server",
                     "open the address that halmark serve printed"};
  }
  return std::nullopt;
}

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw unfit("the system gives no random bytes");
  }
  std::string out;
  for (const unsigned char byte : bytes) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

std::string path_of(std::string_view target) {
  const std::string_view host = host_of_target(target);
  if (!host.empty()) target.remove_prefix(target.find("://") + 3 + host.size());
  if (!target.starts_with('/')) return {};
  return std::string(target.substr(0, target.find_first_of("?#")));
}

std::optional<PageQuestion> parse_question(std::string_view target) {
  const std::string path = path_of(target);
  if (!path.starts_with(api)) return std::nullopt;
  PageQuestion out{.path = path.substr(api.size())};
  const std::size_t mark = target.find('?');
  std::string_view rest = mark == std::string_view::npos ? "" : target.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equal = std::min(pair.find('='), pair.size());
    const auto name = decoded(pair.substr(0, equal));
    const auto value = decoded(pair.substr(std::min(pair.size(), equal + 1)));
    if (!name || !value || out.values.size() >= query_values_max) return std::nullopt;
    if (!out.values.emplace(*name, *value).second) return std::nullopt;
  }
  return out;
}

}  // namespace halmark::serve
