// Documents posted to a server of this test, over a real socket.
#include "serve/http_post.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "core/text/error.hpp"

namespace halmark::serve {
namespace {

using testing::HasSubstr;

// Answers one request with `answer`, and keeps what it was sent.
class Collector {
 public:
  explicit Collector(std::string answer) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    socklen_t size = sizeof at;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = std::to_string(ntohs(at.sin_port));
    thread_ = std::thread([this, answer = std::move(answer)] { serve(answer); });
  }
  ~Collector() { end(); }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  HttpTarget target() const { return http_target("http://127.0.0.1:" + port_ + "/in/", "1"); }
  std::string received() {
    end();
    return received_;
  }

 private:
  void end() {
    if (thread_.joinable()) thread_.join();
    if (listener_ >= 0) ::close(std::exchange(listener_, -1));
  }
  void serve(const std::string& answer) {
    const int socket = ::accept(listener_, nullptr, nullptr);
    char bytes[4096];
    while (!received_.ends_with("end}")) {
      const ssize_t count = ::recv(socket, bytes, sizeof bytes, 0);
      if (count <= 0) break;
      received_.append(bytes, static_cast<std::size_t>(count));
    }
    ::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL);
    ::close(socket);
  }

  int listener_;
  std::string port_, received_;
  std::thread thread_;
};

std::string failure_of(const HttpTarget& target) {
  try {
    post_json(target, "/v1/traces", "{end}");
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::error);
    return error.what();
  }
  return {};
}

TEST(HttpPost, a_collector_receives_the_document) {
  Collector collector("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  const std::string body = "{" + std::string(300'000, 'x') + "end}";
  post_json(collector.target(), "/v1/traces", body);
  const std::string got = collector.received();
  EXPECT_THAT(got, testing::StartsWith("POST /in/v1/traces HTTP/1.1\r\n"));
  EXPECT_THAT(got, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(got, HasSubstr("Content-Length: " + std::to_string(body.size())));
  EXPECT_TRUE(got.ends_with(body));
}

TEST(HttpPost, what_is_not_taken_is_said_in_one_line) {
  Collector collector("HTTP/1.1 400 Bad\r\nContent-Length: 9\r\n\r\nno\nspan\x07s");
  const std::string line = failure_of(collector.target());
  EXPECT_THAT(line, HasSubstr("it answered 400"));
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(HttpPost, nobody_there_or_no_answer_is_a_failure) {
  EXPECT_THAT(failure_of(http_target("http://127.0.0.1:1", "1")), HasSubstr("refused"));
  Collector silent("");
  EXPECT_THAT(failure_of(silent.target()), HasSubstr("nothing was posted to http://127.0.0.1:"));
}

TEST(HttpPost, addresses_are_read_or_refused) {
  EXPECT_FALSE(is_http_url("spans.json"));
  EXPECT_TRUE(is_http_url("https://here"));
  EXPECT_EQ(http_target("http://here", "4318").text(), "http://here:4318");
  EXPECT_EQ(http_target("http://here:99/a/b/", "4318").text(), "http://here:99/a/b");
  for (const char* wrong : {"https://here", "http://", "http://:80", "http://here:x", "ftp://a"}) {
    try {
      http_target(wrong, "1");
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::refused) << wrong;
    }
  }
}

}  // namespace
}  // namespace halmark::serve
