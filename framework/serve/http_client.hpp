// The client's side of HTTP: a document posted to a collector, a server that we started asked.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

namespace halmark::serve {

struct HttpTarget {
  std::string host, port, path;  // path: "" or "/prefix", in front of what is posted to
  std::string text() const { return "http://" + host + ':' + port + path; }
};

bool is_http_url(const std::string& text);
// http://HOST[:PORT][/PATH]. Throws Error (exit 2) for anything else, https among it: there is no
// TLS here.
HttpTarget http_target(const std::string& url, const std::string& default_port);

// Throws Error (exit 1) where nobody answers within some seconds, or not with success.
void post_json(const HttpTarget& to, const std::string& path, const std::string& body);

// A port of this machine that nobody listens to now. Throws Error (exit 5) where there is none.
int free_port();
// The body as it arrives, without the frames of its transfer.
using BodyTaker = std::function<void(std::string_view piece)>;
// Asks this machine's port, "" with GET and a document with POST: the status, or 0 where nobody
// answers, the answer is none or is cut off, and within a second of `stop`.
int ask_loopback(int port, const std::string& path, const std::string& document,
                 const BodyTaker& take, const std::stop_token& stop);

}  // namespace halmark::serve
