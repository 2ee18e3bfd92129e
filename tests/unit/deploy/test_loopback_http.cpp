// What a client makes of an answer, however it arrives.
#include "deploy/engine/loopback_http.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "host/process/file_descriptor.hpp"

namespace halmark::deploy {
namespace {

// Listens on a port, takes one request, and sends its pieces with a pause between them.
class OneAnswer {
 public:
  explicit OneAnswer(std::vector<std::string> pieces)
      : door_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(door_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(door_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    EXPECT_EQ(::listen(door_.get(), 1), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this, pieces = std::move(pieces)] { serve(pieces); });
  }
  int port() const { return port_; }
  // Of the request, once it was answered.
  const std::string& request() {
    if (thread_.joinable()) thread_.join();
    return request_;
  }

 private:
  void serve(const std::vector<std::string>& pieces) {
    const FileDescriptor caller(::accept(door_.get(), nullptr, nullptr));
    char block[4096];
    while (!request_.ends_with("end")) {
      const ssize_t count = ::recv(caller.get(), block, sizeof block, 0);
      if (count <= 0) return;
      request_.append(block, static_cast<std::size_t>(count));
    }
    for (const std::string& piece : pieces) {
      ::send(caller.get(), piece.data(), piece.size(), MSG_NOSIGNAL);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  FileDescriptor door_;
  int port_ = 0;
  std::string request_;
  std::jthread thread_;
};

struct Heard {
  int status = -1;
  std::string body;
};

Heard ask(
    int port, const GoesOn& goes_on = [] { return true; }) {
  Heard out;
  out.status = http_request(
      port, "POST", "/path", "the end", [&](std::string_view s) { out.body += s; }, goes_on);
  return out;
}

TEST(LoopbackHttp, sends_a_request_with_its_length) {
  OneAnswer server({"HTTP/1.1 200 OK\r\n\r\n"});
  EXPECT_EQ(ask(server.port()).status, 200);
  EXPECT_EQ(server.request(),
            "POST /path HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            "Content-Type: application/json\r\nContent-Length: 7\r\n\r\nthe end");
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
  EXPECT_EQ(ask(cut.port()).body, "") << "half of a frame is none";
  OneAnswer unsized({head + "z\r\na\r\n1\r\nb\r\n"});
  EXPECT_EQ(ask(unsized.port()).body, "") << "a frame without a length ends the body";
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
  OneAnswer server({"HTTP/1.1 200 OK\r\n\r\nbody"});
  EXPECT_EQ(ask(server.port(), [] { return false; }).status, 0);
  OneAnswer late({"HTTP/1.1 200 OK\r\n\r\n", "body"});
  int asked = 0;
  EXPECT_EQ(ask(late.port(), [&] { return ++asked < 3; }).status, 0);
}

// While nothing arrives it is asked again after a second.
TEST(LoopbackHttp, asks_once_a_second_whether_to_go_on) {
  OneAnswer silent({"HTTP/1.1 200 OK\r\n\r\n"});
  const FileDescriptor door(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(door.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::getsockname(door.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  ASSERT_EQ(::listen(door.get(), 1), 0);  // and never answers
  int asked = 0;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(ask(ntohs(address.sin_port), [&] { return ++asked < 3; }).status, 0);
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(asked, 3);
  EXPECT_GT(waited.count(), 1.8);
  EXPECT_LT(waited.count(), 10);
  EXPECT_EQ(ask(silent.port()).status, 200);
}

TEST(LoopbackHttp, free_ports_can_be_listened_to) {
  const int port = free_port();
  EXPECT_GT(port, 1023);
  EXPECT_LT(port, 65'536);
}

}  // namespace
}  // namespace halmark::deploy
