// What a client makes of an answer, however it arrives, over real sockets.
#include "serve/http_client.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/text/error.hpp"
#include "core/version.hpp"
#include "one_answer.hpp"

namespace halmark::serve {
namespace {

using testing::HasSubstr;

struct Heard {
  int status = -1;
  std::string body;
};

Heard ask(int port, const std::stop_token& stop = {}) {
  Heard out;
  out.status = ask_loopback(
      port, "/path", "the end", [&](std::string_view s) { out.body += s; }, stop);
  return out;
}

TEST(LoopbackHttp, sends_a_request_with_its_length) {
  OneAnswer server({"HTTP/1.1 200 OK\r\n\r\n"});
  EXPECT_EQ(ask(server.port()).status, 200);
  EXPECT_EQ(server.request(),
            "POST /path HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                "\r\nUser-Agent: halmark/" + tool_version +
                "\r\nConnection: close\r\nContent-Type: application/json\r\n"
                "Content-Length: 7\r\n\r\nthe end");
}

TEST(LoopbackHttp, gives_the_body_as_it_comes_behind_the_head) {
  OneAnswer whole({"HTTP/1.1 404 Not Found\r\nX: y\r\n\r\nbody"});
  const Heard one = ask(whole.port());
  EXPECT_EQ(one.status, 404);
  EXPECT_EQ(one.body, "body");
  OneAnswer parts({"HTTP/1.0 20", "1 Created\r\nX: y\r", "\n\r", "\nbo", "dy\r\n", "0"});
  const Heard many = ask(parts.port());
  EXPECT_EQ(many.status, 201);
  EXPECT_EQ(many.body, "body\r\n0") << "without frames every byte is the body's";
}

TEST(LoopbackHttp, takes_the_frames_of_a_chunked_transfer_off) {
  const std::string head = "HTTP/1.1 200 OK\r\nTRANSFER-Encoding: Chunked\r\n\r\n";
  OneAnswer together({head + "3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n"});
  EXPECT_EQ(ask(together.port()).body, "abc0123456789");
  OneAnswer apart(
      {head + "1", "0\r", "\n01234567", "89abcdef\r", "\n", "2\r\n\r\n\r\n", "0\r\n\r\n"});
  EXPECT_EQ(ask(apart.port()).body, "0123456789abcdef\r\n") << "line ends of a frame are its bytes";
  OneAnswer cut({head + "5\r\nabc"});
  EXPECT_EQ(ask(cut.port()).status, 0) << "half of a frame is none";
  OneAnswer unsized({head + "z\r\na\r\n1\r\nb\r\n"});
  const Heard broken = ask(unsized.port());
  EXPECT_EQ(broken.body, "") << "a frame without a length is none";
  EXPECT_EQ(broken.status, 0);
}

TEST(LoopbackHttp, what_is_no_answer_has_no_status) {
  for (const char* const text : {"", "HTTP/1.1 200 OK\r\n", "SSH-2.0 200\r\n\r\n",
                                 "HTTP/1.1\r\n\r\n", "HTTP/1.1 none\r\n\r\n"}) {
    OneAnswer server({text});
    EXPECT_EQ(ask(server.port()).status, 0) << text;
  }
  EXPECT_EQ(ask(free_port()).status, 0) << "nobody listens";
}

TEST(LoopbackHttp, ends_when_it_is_told_to) {
  std::stop_source user;
  OneAnswer late({"HTTP/1.1 200 OK\r\n\r\n", "body", "more"});
  const auto leave = [&](std::string_view) { user.request_stop(); };
  EXPECT_EQ(ask_loopback(late.port(), "/", "the end", leave, user.get_token()), 0);
  const Door open;
  EXPECT_EQ(ask(open.port(), user.get_token()).status, 0);
}

TEST(LoopbackHttp, looks_once_a_second_whether_to_go_on) {
  const Door silent;
  std::stop_source user;
  const std::jthread leaves([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    user.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(ask(silent.port(), user.get_token()).status, 0);
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(waited.count(), 1.2);
  EXPECT_LT(waited.count(), 10);
}

TEST(LoopbackHttp, free_ports_can_be_listened_to) {
  const int port = free_port();
  EXPECT_GT(port, 1023);
  EXPECT_LT(port, 65'536);
}

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
  OneAnswer collector({"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"});
  const std::string body = "{" + std::string(300'000, 'x') + "end}";
  post_json(collector.target(), "/v1/traces", body);
  const std::string got = collector.request();
  EXPECT_THAT(got, testing::StartsWith("POST /in/v1/traces HTTP/1.1\r\n"));
  EXPECT_THAT(got, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(got, HasSubstr("Content-Length: " + std::to_string(body.size())));
  EXPECT_TRUE(got.ends_with(body));
}

TEST(HttpPost, what_is_not_taken_is_said_in_one_line) {
  OneAnswer collector({"HTTP/1.1 400 Bad\r\nContent-Length: 9\r\n\r\nno\nspan\x07s"});
  const std::string line = failure_of(collector.target());
  EXPECT_THAT(line, HasSubstr("it answered 400"));
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(HttpPost, nobody_there_or_no_answer_is_a_failure) {
  EXPECT_THAT(failure_of(http_target("http://127.0.0.1:1", "1")), HasSubstr("refused"));
  OneAnswer silent({});
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
