#include "serve/http_post.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <chrono>

#include "core/text/error.hpp"
#include "core/version.hpp"

namespace halmark::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::string_view scheme = "http://";
constexpr std::chrono::seconds time_limit{10};
constexpr std::uint64_t answer_bytes_max = 64 * 1024;

// What is asked with a deadline runs until it has ended: the deadline of a stream holds for
// asynchronous operations alone.
class Posting {
 public:
  explicit Posting(const HttpTarget& to) : to_(to), stream_(io_) {}

  void run(const std::string& path, const std::string& body) {
    asio::ip::tcp::resolver resolver(io_);
    beast::error_code error;
    const auto addresses = resolver.resolve(to_.host, to_.port, error);
    check(error);
    http::request<http::string_body> request(http::verb::post, to_.path + path, 11, body);
    request.set(http::field::host, to_.host + ':' + to_.port);
    request.set(http::field::user_agent, std::string("halmark/") + tool_version);
    request.set(http::field::content_type, "application/json");
    request.prepare_payload();
    stream_.expires_after(time_limit);
    stream_.async_connect(addresses, [&](beast::error_code e, const auto&) { error = e; });
    finish(error);
    http::async_write(stream_, request, [&](beast::error_code e, std::size_t) { error = e; });
    finish(error);
    http::response_parser<http::string_body> parser;
    parser.body_limit(answer_bytes_max);
    beast::flat_buffer buffer;
    http::async_read(stream_, buffer, parser, [&](beast::error_code e, std::size_t) { error = e; });
    finish(error);
    const unsigned status = parser.get().result_int();
    if (status >= 300) {
      fail("it answered " + std::to_string(status) + ' ' +
           printable(parser.get().body().substr(0, 200)));
    }
  }

 private:
  void finish(const beast::error_code& error) {
    io_.restart();
    io_.run();
    check(error);
  }
  void check(const beast::error_code& error) {
    if (error == beast::error::timeout) fail("no answer within 10 s");
    if (error) fail(error.message());
  }
  [[noreturn]] void fail(const std::string& why) {
    throw Error(ExitCode::error, "nothing was posted to " + to_.text() + ": " + why);
  }

  HttpTarget to_;
  asio::io_context io_{1};
  beast::tcp_stream stream_;
};

}  // namespace

bool is_http_url(const std::string& text) { return text.find("://") != std::string::npos; }

HttpTarget http_target(const std::string& url, const std::string& default_port) {
  const auto misfit = [&](const std::string& why) {
    return refused("'" + printable(url) + "': " + why, {}, "name it as http://HOST:PORT");
  };
  if (!url.starts_with(scheme)) {
    throw misfit("only http is spoken here; a collector on this machine may forward it");
  }
  const std::string rest = url.substr(scheme.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string authority = rest.substr(0, slash);
  const std::size_t colon = authority.rfind(':');
  HttpTarget out{.host = authority.substr(0, colon),
                 .port = colon == std::string::npos ? default_port : authority.substr(colon + 1),
                 .path = rest.substr(slash)};
  while (out.path.ends_with('/')) out.path.pop_back();
  if (out.host.empty() || out.port.empty() ||
      out.port.find_first_not_of("0123456789") != std::string::npos) {
    throw misfit("it names no host and port");
  }
  return out;
}

void post_json(const HttpTarget& to, const std::string& path, const std::string& body) {
  Posting(to).run(path, body);
}

}  // namespace halmark::serve
