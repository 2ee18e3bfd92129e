#include "deploy/engine/loopback_http.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "core/text/error.hpp"
#include "host/process/file_descriptor.hpp"

namespace halmark::deploy {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(static_cast<std::uint16_t>(port));
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

FileDescriptor connected(int port) {
  FileDescriptor out(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!out) return {};
  const sockaddr_in address = loopback(port);
  if (::connect(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return {};
  }
  const timeval second{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(out.get(), SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
  return out;
}

bool send_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Takes the frames of a chunked transfer off: "<hexadecimal length>\r\n<bytes>\r\n".
class BodyReader {
 public:
  BodyReader(bool is_chunked, const BodyTaker& take) : is_chunked_(is_chunked), take_(take) {}

  void add(std::string_view bytes) {
    if (!is_chunked_) {
      take_(bytes);
      return;
    }
    pending_ += bytes;
    while (take_frame()) {
    }
  }

 private:
  bool take_frame() {
    const std::size_t line = pending_.find("\r\n");
    if (line == std::string::npos) return false;
    std::size_t length = 0;
    std::from_chars(pending_.data(), pending_.data() + line, length, 16);
    if (length == 0 || pending_.size() < line + 2 + length + 2) return false;
    take_(std::string_view(pending_).substr(line + 2, length));
    pending_.erase(0, line + 2 + length + 2);
    return true;
  }

  bool is_chunked_;
  const BodyTaker& take_;
  std::string pending_;
};

// Bytes that arrive, or nothing at the end, at an error and when it was ended.
std::string_view receive(int fd, std::string& block, const GoesOn& goes_on) {
  block.resize(std::size_t{1} << 16);
  while (goes_on()) {
    const ssize_t count = ::recv(fd, block.data(), block.size(), 0);
    if (count > 0) return {block.data(), static_cast<std::size_t>(count)};
    const bool waits = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    if (!waits) break;
  }
  return {};
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : static_cast<char>(c);
  });
  return text;
}

// Of "HTTP/1.1 200 OK".
int status_of(const std::string& head) {
  int out = 0;
  const std::size_t space = head.find(' ');
  if (!head.starts_with("HTTP/1.") || space == std::string::npos) return 0;
  std::from_chars(head.data() + space + 1, head.data() + head.size(), out);
  return out;
}

}  // namespace

int free_port() {
  const FileDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw unfit(std::string("no port for the server: ") + std::strerror(errno));
  }
  return ntohs(address.sin_port);
}

int http_request(int port, const char* method, const std::string& path, const std::string& body,
                 const BodyTaker& take, const GoesOn& goes_on) {
  const FileDescriptor fd = connected(port);
  const std::string head = std::string(method) + ' ' + path +
                           " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                           "Content-Type: application/json\r\nContent-Length: " +
                           std::to_string(body.size()) + "\r\n\r\n";
  if (!fd || !send_all(fd.get(), head + body)) return 0;
  std::string block, answer;
  std::size_t end = std::string::npos;
  while (end == std::string::npos) {
    const std::string_view bytes = receive(fd.get(), block, goes_on);
    if (bytes.empty()) return 0;
    answer += bytes;
    end = answer.find("\r\n\r\n");
  }
  const std::string fields = lower(answer.substr(0, end));
  BodyReader reader(fields.find("transfer-encoding: chunked") != std::string::npos, take);
  reader.add(std::string_view(answer).substr(end + 4));
  for (;;) {
    const std::string_view bytes = receive(fd.get(), block, goes_on);
    if (bytes.empty()) break;
    reader.add(bytes);
  }
  return goes_on() ? status_of(answer) : 0;
}

}  // namespace halmark::deploy
