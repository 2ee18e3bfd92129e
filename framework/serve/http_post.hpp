// The client's side of HTTP: a document posted to a collector.
#pragma once

#include <string>

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

}  // namespace halmark::serve
