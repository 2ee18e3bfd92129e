// A running `halmark serve`, and clients of it.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>

#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

class HttpClient {
 public:
  explicit HttpClient(int port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_open_ = connect(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
  }
  ~HttpClient() { ::close(fd_); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  bool is_open() const { return is_open_; }
  // As much as the other side takes at once.
  void send(const std::string& text) const {
    ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  std::string read_all(double limit_s = 10) const {
    std::string out;
    const auto began = Clock::now();
    for (;;) {
      pollfd one{fd_, POLLIN, 0};
      const double left = limit_s - seconds_since(began);
      if (left <= 0 || poll(&one, 1, static_cast<int>(left * 1000)) <= 0) return out;
      char buffer[65536];
      const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
      if (got <= 0) return out;
      out.append(buffer, static_cast<std::size_t>(got));
    }
  }

 private:
  int fd_;
  bool is_open_ = false;
};

class ServeTest : public HalmarkTest {
 protected:
  // The address goes to stdout, which is a file here, because the program runs on.
  void start(Arguments more = {}) {
    Arguments arguments = {"serve"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Launch inner = launch(arguments);
    Launch outer = inner;
    outer.limit_s = 120;
    outer.arguments = {"/bin/sh", "-c", "exec \"$@\" > address.txt", "sh"};
    outer.arguments.insert(outer.arguments.end(), inner.arguments.begin(), inner.arguments.end());
    process_ = std::make_unique<Process>(outer);
    const auto began = Clock::now();
    std::string line;
    while (line.empty() && seconds_since(began) < 20) {
      std::ifstream file(path("address.txt"));
      if (!std::getline(file, line) || file.eof()) line.clear();
      usleep(20'000);
    }
    ASSERT_THAT(line, testing::StartsWith("http://127.0.0.1:"));
    address_ = line;
    port_ = std::stoi(line.substr(17));
  }
  std::string host() const { return "Host: 127.0.0.1:" + std::to_string(port_) + "\r\n"; }
  std::string token() const { return address_.substr(address_.find("token=") + 6); }
  std::string got(const std::string& target) const {
    const HttpClient client(port_);
    client.send("GET " + target + " HTTP/1.1\r\n" + host() + "Connection: close\r\n\r\n");
    return client.read_all();
  }
  Json answer(const std::string& target) const {
    const std::string said = got(target);
    EXPECT_THAT(said, testing::StartsWith("HTTP/1.1 200")) << said.substr(0, 300);
    return Json::parse(said.substr(said.find("\r\n\r\n") + 4));
  }
  std::string post(const std::string& path, const std::string& body,
                   const std::string& said) const {
    const HttpClient client(port_);
    client.send("POST " + path + " HTTP/1.1\r\n" + host() +
                "Origin: http://127.0.0.1:" + std::to_string(port_) +
                "\r\nContent-Type: application/json\r\nX-Halmark-Token: " + said +
                "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body);
    return client.read_all();
  }
  long resident_kib() const {
    std::ifstream status("/proc/" + std::to_string(process_->pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
    }
    return -1;
  }

  std::unique_ptr<Process> process_;
  std::string address_;
  int port_ = 0;
};

}  // namespace halmark::integration
