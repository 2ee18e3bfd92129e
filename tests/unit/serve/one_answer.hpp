// A server for tests: a real socket of this machine, one request, one answer.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "serve/http_client.hpp"

namespace halmark::serve {

// Listens on a port of its own.
class Door {
 public:
  Door() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    EXPECT_EQ(::listen(socket_, 1), 0);
    port_ = ntohs(address.sin_port);
  }
  ~Door() { ::close(socket_); }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  int port() const { return port_; }
  int accept() const { return ::accept(socket_, nullptr, nullptr); }

 private:
  int socket_, port_ = 0;
};

// Takes one request, whole or what ends with "end", and sends its pieces with a pause between them.
class OneAnswer {
 public:
  explicit OneAnswer(std::vector<std::string> pieces)
      : thread_([this, pieces = std::move(pieces)] { serve(pieces); }) {}
  int port() const { return door_.port(); }
  HttpTarget target() const {
    return http_target("http://127.0.0.1:" + std::to_string(port()) + "/in/", "1");
  }
  // Of the request, once it was answered.
  const std::string& request() {
    if (thread_.joinable()) thread_.join();
    return request_;
  }

 private:
  void serve(const std::vector<std::string>& pieces) {
    const int caller = door_.accept();
    char block[4096];
    while (!request_.ends_with("end") && !is_whole()) {
      const ssize_t count = ::recv(caller, block, sizeof block, 0);
      if (count <= 0) break;
      request_.append(block, static_cast<std::size_t>(count));
    }
    for (const std::string& piece : pieces) {
      ::send(caller, piece.data(), piece.size(), MSG_NOSIGNAL);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::close(caller);
  }

  bool is_whole() const {
    const std::string length = "Content-Length: ";
    const std::size_t at = request_.find(length), body = request_.find("\r\n\r\n");
    if (at == std::string::npos || body == std::string::npos) return false;
    return request_.size() >= body + 4 + std::stoul(request_.substr(at + length.size()));
  }

  Door door_;
  std::string request_;
  std::jthread thread_;
};

}  // namespace halmark::serve
