#include "serve/http_client.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include "core/text/error.hpp"
#include "core/version.hpp"

namespace halmark::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::string_view scheme = "http://";
using beast::error_code;

constexpr std::chrono::seconds posting_limit{10}, stop_interval{1};

struct Answer {
  error_code error;
  int status = 0;
};

// One request and its answer. What is asked runs asynchronously: a limit of time holds for that
// alone, and `stop` is looked at while nothing comes.
class Exchange {
 public:
  Exchange(const HttpTarget& to, const std::stop_token& stop) : to_(to), stop_(stop) {}

  Answer run(http::verb verb, const std::string& path, const std::string& body,
             const BodyTaker& take, std::optional<std::chrono::seconds> limit) {
    asio::ip::tcp::resolver resolver(io_);
    error_code error;
    const auto addresses = resolver.resolve(to_.host, to_.port, error);
    if (error) return {error};
    http::request<http::string_body> request(verb, to_.path + path, 11, body);
    request.set(http::field::host, to_.host + ':' + to_.port);
    request.set(http::field::user_agent, std::string("halmark/") + tool_version);
    request.set(http::field::connection, "close");
    request.set(http::field::content_type, "application/json");
    request.prepare_payload();
    if (limit) stream_.expires_after(*limit);
    error = finish([&](auto handler) { stream_.async_connect(addresses, handler); });
    if (!error) error = finish([&](auto handler) { http::async_write(stream_, request, handler); });
    http::response_parser<http::string_body> parser;
    parser.body_limit(std::numeric_limits<std::uint64_t>::max());
    beast::flat_buffer buffer;
    while (!error && !parser.is_done()) {
      error =
          finish([&](auto handler) { http::async_read_some(stream_, buffer, parser, handler); });
      std::string& piece = parser.get().body();
      if (!piece.empty()) take(piece);
      piece.clear();
    }
    return {error, static_cast<int>(parser.get().result_int())};
  }

 private:
  template <typename Start>
  error_code finish(const Start& start) {
    error_code out = asio::error::in_progress;
    start([&out](error_code error, const auto&) { out = error; });
    while (out == asio::error::in_progress) {
      if (stop_.stop_requested()) stream_.close();
      io_.restart();
      io_.run_for(stop_interval);
    }
    return out;
  }

  HttpTarget to_;
  std::stop_token stop_;
  asio::io_context io_{1};
  beast::tcp_stream stream_{io_};
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
  std::string said;
  const auto [error, status] = Exchange(to, {}).run(
      http::verb::post, path, body,
      [&](std::string_view piece) { said += piece.substr(0, 200 - said.size()); }, posting_limit);
  const std::string why = error == beast::error::timeout ? "no answer within 10 s"
                          : error                        ? error.message()
                          : status >= 300
                              ? "it answered " + std::to_string(status) + ' ' + printable(said)
                              : "";
  if (!why.empty()) {
    throw Error(ExitCode::error, "nothing was posted to " + to.text() + ": " + why);
  }
}

int free_port() {
  asio::io_context io;
  asio::ip::tcp::acceptor acceptor(io);
  error_code error;
  acceptor.open(asio::ip::tcp::v4(), error);
  if (!error) acceptor.bind({asio::ip::address_v4::loopback(), 0}, error);
  if (error) throw unfit("no port for the server: " + error.message());
  return acceptor.local_endpoint().port();
}

int ask_loopback(int port, const std::string& path, const std::string& document,
                 const BodyTaker& take, const std::stop_token& stop) {
  const auto [error, status] =
      Exchange({"127.0.0.1", std::to_string(port), ""}, stop)
          .run(document.empty() ? http::verb::get : http::verb::post, path, document, take, {});
  return error ? 0 : status;
}

}  // namespace halmark::serve
