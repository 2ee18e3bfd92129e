// A client of HTTP/1.1 on this machine alone: what asks a server that we started.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace halmark::deploy {

// A port that nobody listens to now. Throws Error (exit 5) where there is none.
int free_port();

// Asked at least once a second while nothing arrives; false ends the exchange, and so does what it
// throws.
using GoesOn = std::function<bool()>;
// The body as it arrives, without the frames of its transfer.
using BodyTaker = std::function<void(std::string_view piece)>;

// "GET" or "POST"; the status, or 0 where nobody answers, the answer is none, or it was ended.
int http_request(int port, const char* method, const std::string& path, const std::string& body,
                 const BodyTaker& take, const GoesOn& goes_on);

}  // namespace halmark::deploy
