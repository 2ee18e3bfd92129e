// What one client may take of the server. A browser needs a small part of each.
#pragma once

#include <chrono>
#include <cstddef>

namespace halmark::serve {

inline constexpr std::size_t header_bytes_max = 8 * 1024;  // request line and headers together
inline constexpr std::size_t headers_max = 64;
inline constexpr std::size_t body_bytes_max = 64 * 1024;
inline constexpr std::size_t query_values_max = 64;
inline constexpr std::size_t connections_max = 128;  // beyond: the oldest incomplete one is closed
inline constexpr std::size_t streams_max = 16;       // of server-sent events
inline constexpr std::size_t requests_max = 100;     // of one connection
// Answers that clients have not read yet, all together: beyond, others are told to come again.
inline constexpr std::size_t unread_bytes_max = std::size_t{64} << 20;

inline constexpr std::chrono::seconds idle_limit{15};   // between requests of a connection
inline constexpr std::chrono::seconds header_limit{2};  // from its first byte to its last
inline constexpr std::chrono::seconds body_limit{5};
inline constexpr std::chrono::seconds write_limit{10};  // without a byte read by the client

}  // namespace halmark::serve
