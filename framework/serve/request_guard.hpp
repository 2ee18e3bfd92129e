// Which requests are let in: by Host, Origin, method and token, before any route is looked at.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/page_values.hpp"

namespace halmark::serve {

struct RequestHead {
  std::string method, target;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  // The only value of that name; nothing where there is none or more than one.
  std::optional<std::string> only(std::string_view name) const;
  std::size_t count(std::string_view name) const;
};

// Why a request is turned away.
struct Rejection {
  int status = 400;
  std::string what, remedy;
};

// Whose requests are answered: the names under which this server is reached.
struct Guard {
  unsigned short port = 0;
  std::vector<std::string> hosts;  // beside localhost, 127.0.0.1 and [::1]; without port
  std::string token;               // of what starts or stops work

  // A page of another site reaches the server under that site's name (DNS rebinding): a Host that
  // is not ours is refused, in absolute targets too. What acts needs Origin, token and JSON.
  std::optional<Rejection> rejection(const RequestHead& head) const;
  bool is_own_host(std::string_view host) const;  // "localhost:8080", "[::1]:8080"
};

// 128 random bits as hexadecimal digits.
std::string random_token();

// "/api/step?device=h100%2Dsxm": path "step". Nothing for a broken escape, a control character,
// what is no UTF-8, a name that is there twice and more values than the limit.
std::optional<PageQuestion> parse_question(std::string_view target);
// The path of a target without its query; "" of a target that is no path.
std::string path_of(std::string_view target);

}  // namespace halmark::serve
