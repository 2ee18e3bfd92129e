// The server over real sockets: what one client may take of it.
#include "serve/server.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "serve/limits.hpp"

namespace halmark::serve {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Numbers : public PageValues {
 public:
  bool is_slow(const PageQuestion& question) const override {
    return question.path.starts_with("slow");
  }
  Json answer(const PageQuestion& question) override {
    if (is_slow(question)) {
      ++slow_answers;
      while (!may_go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (question.path == "large") return std::string(8 << 20, 'x');
    return {{"path", question.path}};
  }
  Json act(const PageQuestion&) override { return {{"acted", true}}; }
  Json progress() override { return {{"tick", ++ticks_}}; }

  std::atomic<bool> may_go_on = false;
  std::atomic<int> slow_answers = 0;

 private:
  int ticks_ = 0;
};

class Client {
 public:
  explicit Client(unsigned short port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_open_ = connect(socket_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(const std::string& text) {
    EXPECT_TRUE(is_open_);
    ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }
  // Until `text` was read, the other side closed, or the limit passed.
  std::string read_until(const std::string& text, int limit_ms = 5000) {
    std::string out;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
    while (out.find(text) == std::string::npos) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          end - std::chrono::steady_clock::now());
      pollfd one{socket_, POLLIN, 0};
      if (left.count() <= 0 || poll(&one, 1, static_cast<int>(left.count())) <= 0) break;
      char buffer[65536];
      const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
      if (got <= 0) {
        is_closed_ = true;
        break;
      }
      out.append(buffer, static_cast<std::size_t>(got));
    }
    return out;
  }
  std::string read_all(int limit_ms = 5000) { return read_until("\x01never", limit_ms); }
  bool is_closed() const { return is_closed_; }

 private:
  int socket_;
  bool is_open_ = false, is_closed_ = false;
};

class HttpServer : public testing::Test {
 protected:
  HttpServer()
      : server_({.token = "secret"}, values_),
        runs_([this] { server_.run([this] { return should_stop_.load(); }); }) {}
  ~HttpServer() override {
    values_.may_go_on = true;
    should_stop_ = true;
    runs_.join();
  }
  std::string host() const { return "Host: 127.0.0.1:" + std::to_string(server_.port()) + "\r\n"; }
  std::string asked(const std::string& text) {
    Client client(server_.port());
    client.send(text);
    return client.read_all(1000);
  }
  std::string got(const std::string& path) {
    return asked("GET " + path + " HTTP/1.1\r\n" + host() + "Connection: close\r\n\r\n");
  }

  Numbers values_;
  Server server_;
  std::atomic<bool> should_stop_ = false;
  std::thread runs_;
};

TEST_F(HttpServer, answers_a_question_and_closes_when_asked) {
  EXPECT_THAT(got("/api/step"),
              testing::AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("{\"path\":\"step\"}")));
}

TEST_F(HttpServer, answers_further_questions_of_one_connection) {
  Client client(server_.port());
  for (const char* path : {"one", "two"}) {
    client.send("GET /api/" + std::string(path) + " HTTP/1.1\r\n" + host() + "\r\n");
    EXPECT_THAT(client.read_until("\"}"), HasSubstr(path));
  }
}

TEST_F(HttpServer, what_takes_long_holds_nothing_else_up) {
  Client slow(server_.port());
  slow.send("GET /api/slow HTTP/1.1\r\n" + host() + "\r\n");
  for (int i = 0; i < 5; ++i) EXPECT_THAT(got("/api/step"), HasSubstr("{\"path\":\"step\"}"));
  values_.may_go_on = true;
  EXPECT_THAT(slow.read_until("\"}"), HasSubstr("slow"));
}

TEST_F(HttpServer, what_nobody_waits_for_any_more_is_not_computed) {
  Client first(server_.port());
  first.send("GET /api/slow HTTP/1.1\r\n" + host() + "\r\n");
  while (values_.slow_answers == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (int i = 0; i < 3; ++i) {
    Client left(server_.port());
    left.send("GET /api/slow HTTP/1.1\r\n" + host() + "\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  // Each has gone before its turn came; the server has seen it when it answers another.
  EXPECT_THAT(got("/api/step"), HasSubstr("step"));
  Client last(server_.port());
  last.send("GET /api/slow-last HTTP/1.1\r\n" + host() + "\r\n");
  values_.may_go_on = true;
  EXPECT_THAT(last.read_until("\"}"), HasSubstr("slow-last"));
  EXPECT_EQ(values_.slow_answers, 2);
}

TEST_F(HttpServer, gives_heads_without_bodies) {
  const std::string said = asked("HEAD / HTTP/1.1\r\n" + host() + "Connection: close\r\n\r\n");
  EXPECT_THAT(said, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(said, testing::EndsWith("\r\n\r\n"));
}

TEST_F(HttpServer, refuses_what_is_too_long_and_what_is_no_request) {
  const std::string pad(header_bytes_max, 'a');
  EXPECT_THAT(asked("GET / HTTP/1.1\r\n" + host() + "X: " + pad + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(asked("GET /" + pad + " HTTP/1.1\r\n" + host() + "\r\n"), StartsWith("HTTP/1.1 431"));
  for (const std::string& wrong :
       {std::string("nonsense\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n"),
        std::string("\x16\x03\x01\x02", 4) + "tls hello\r\n\r\n", std::string(512, '\0')}) {
    EXPECT_THAT(asked(wrong), StartsWith("HTTP/1.1 400")) << wrong.substr(0, 20);
  }
}

std::string post(const std::string& host, const std::string& body, const std::string& more = "") {
  return "POST /api/start HTTP/1.1\r\n" + host + "Origin: http://" +
         host.substr(6, host.size() - 8) +
         "\r\nContent-Type: application/json\r\nX-Halmark-Token: secret\r\nConnection: close\r\n" +
         more + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST_F(HttpServer, bodies_are_read_up_to_their_limit) {
  const std::string at_limit = "{\"a\":\"" + std::string(body_bytes_max - 8, 'x') + "\"}";
  ASSERT_EQ(at_limit.size(), body_bytes_max);
  EXPECT_THAT(asked(post(host(), at_limit)), HasSubstr("acted"));
  EXPECT_THAT(asked(post(host(), at_limit + " ")), StartsWith("HTTP/1.1 413"));
  const std::string chunked =
      "POST /api/start HTTP/1.1\r\n" + host() + "Origin: http://" +
      host().substr(6, host().size() - 8) +
      "\r\nContent-Type: application/json\r\nX-Halmark-Token: secret\r\nTransfer-Encoding: "
      "chunked\r\n\r\n20000\r\n" +
      std::string(0x20000, 'x') + "\r\n0\r\n\r\n";
  EXPECT_THAT(asked(chunked), StartsWith("HTTP/1.1 413"));
}

TEST_F(HttpServer, a_foreign_host_is_turned_away_before_its_route) {
  EXPECT_THAT(asked("GET /api/step HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
              StartsWith("HTTP/1.1 403"));
}

TEST_F(HttpServer, a_header_that_never_ends_is_cut_off) {
  Client slow(server_.port());
  slow.send("GET / HTTP/1.1\r\nHost: ");
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(slow.read_all(15'000), "");
  EXPECT_TRUE(slow.is_closed());
  EXPECT_LT(std::chrono::steady_clock::now() - began, header_limit + std::chrono::seconds(3));
}

TEST_F(HttpServer, an_honest_client_is_answered_beside_more_stalled_ones_than_there_are_places) {
  std::vector<std::unique_ptr<Client>> stalled;
  for (std::size_t i = 0; i < 2 * connections_max; ++i) {
    stalled.push_back(std::make_unique<Client>(server_.port()));
    if (i % 2 == 0) stalled.back()->send("GET / HT");
  }
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THAT(got("/api/step"), StartsWith("HTTP/1.1 200"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(2));
}

TEST_F(HttpServer, tells_what_happens_to_those_who_listen) {
  Client listener(server_.port());
  listener.send("GET /api/events HTTP/1.1\r\n" + host() + "\r\n");
  const std::string said = listener.read_until("\"tick\":2", 6000);
  EXPECT_THAT(said, HasSubstr("text/event-stream"));
  EXPECT_THAT(said, HasSubstr("data: {\"tick\":1}\n\n"));
}

TEST(ServerAddresses, are_judged_before_anything_listens) {
  Numbers values;
  for (const char* wrong : {"localhost", "127.0.0.1; rm", "", "1.2.3"}) {
    EXPECT_THROW(Server({.address = wrong}, values), Error) << wrong;
  }
  EXPECT_THROW(Server({.address = "0.0.0.0"}, values), Error);
  EXPECT_THROW(Server({.address = "::"}, values), Error);
  const Server named({.address = "0.0.0.0", .hosts = {"bench.example"}}, values);
  EXPECT_GT(named.port(), 0);
  const Server own({.address = "127.0.0.2", .token = "abc"}, values);
  EXPECT_EQ(own.url(), "http://127.0.0.2:" + std::to_string(own.port()) + "/#token=abc");
}

TEST(ServerAddresses, one_that_is_in_use_is_refused) {
  Numbers values;
  const Server one({}, values);
  EXPECT_THROW(Server({.port = one.port()}, values), Error);
}

}  // namespace
}  // namespace halmark::serve
