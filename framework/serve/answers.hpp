// From a request to an answer, without a socket: what routes exist and what headers every answer
// has.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "serve/request_guard.hpp"

namespace halmark::serve {

struct PageAnswer {
  int status = 200;
  std::string type = "application/json";
  std::shared_ptr<const std::string> body = std::make_shared<std::string>();
};

PageAnswer rejected(const Rejection& rejection);
// Calls `values` for /api/ and reads the embedded files for the rest. Throws nothing: errors are
// answers with one line. `head` has passed the guard.
PageAnswer answered(PageValues& values, const RequestHead& head, std::string_view body);

// The path at which events are listened to.
inline constexpr std::string_view events_path = "/api/events";

// Status line and headers. `length` < 0: a stream, which ends with the connection.
std::string head_text(const PageAnswer& answer, std::ptrdiff_t length, bool keeps_alive);
// "data: {...}\n\n"
std::string event_text(const Json& document);

}  // namespace halmark::serve
