// Plain sockets: what is measured is the kernel's path, and a library's buffers would be part of
// it.
#include "measure/links/socket.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <utility>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"

namespace halmark::links {
namespace {

constexpr int wait_ms = 10'000;

Error failed(const std::string& what, const std::string& peer, int error) {
  return unfit(what + ' ' + peer + ": " + std::strerror(error),
               "halmark fabric probe --listen ADDRESS:PORT answers on the other side");
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

std::unique_ptr<addrinfo, FreeAddresses> resolved(const Address& address, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error != 0) throw unfit("cannot resolve '" + address.host + "': " + gai_strerror(error));
  return std::unique_ptr<addrinfo, FreeAddresses>(found);
}

// Small messages go at once: what is measured is the link, and not Nagle's wait for more.
void send_at_once(int descriptor) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Without an end a peer that says nothing would hold the one place, or us.
void limit_waits(int descriptor) {
  const timeval limit{wait_ms / 1000, 0};
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

bool has_client(int listener, int timeout_ms) {
  pollfd entry{listener, POLLIN, 0};
  return ::poll(&entry, 1, timeout_ms) > 0;
}

}  // namespace

Address parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  Address out;
  if (colon != std::string::npos && colon > 0) {
    const char* end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data() + colon + 1, end, out.port);
    if (error == std::errc() && after == end) {
      out.host = text.substr(0, colon);
      return out;
    }
  }
  throw refused("'" + text + "' is no address", {}, "write HOST:PORT, for example 127.0.0.1:7777");
}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Socket::Socket(Socket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), peer_(std::move(other.peer_)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(peer_, other.peer_);
  return *this;
}

void Socket::send(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes = bytes.subspan(as_size(sent));
    } else if (sent < 0 && errno == EINTR) {
      continue;
    } else if (sent < 0 && errno == EAGAIN) {
      throw failed("no answer of", peer_, ETIMEDOUT);
    } else {
      throw failed("lost", peer_, errno);
    }
  }
}

bool Socket::receive(std::span<std::byte> bytes) {
  bool has_begun = false;
  while (!bytes.empty()) {
    const ssize_t got = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (got > 0) {
      has_begun = true;
      bytes = bytes.subspan(as_size(got));
    } else if (got == 0 || errno == ECONNRESET) {
      if (!has_begun) return false;
      throw failed("lost", peer_, ECONNRESET);
    } else if (errno == EAGAIN) {
      throw failed("no answer of", peer_, ETIMEDOUT);
    } else if (errno != EINTR) {
      throw failed("lost", peer_, errno);
    }
  }
  return true;
}

Socket connect_to(const Address& address) {
  const auto list = resolved(address, 0);
  int error = ECONNREFUSED;
  for (const addrinfo* a = list.get(); a != nullptr; a = a->ai_next) {
    Socket out(::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol),
               address.text());
    limit_waits(out.descriptor());
    if (out.descriptor() >= 0 && ::connect(out.descriptor(), a->ai_addr, a->ai_addrlen) == 0) {
      send_at_once(out.descriptor());
      return out;
    }
    error = errno;
  }
  throw failed("cannot reach", address.text(), error);
}

Listener::Listener(const Address& address) : address_(address) {
  const auto list = resolved(address, AI_PASSIVE);
  socket_ = Socket(::socket(list->ai_family, list->ai_socktype | SOCK_CLOEXEC, 0), address.text());
  const int on = 1;
  ::setsockopt(socket_.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket_.descriptor(), list->ai_addr, list->ai_addrlen) != 0 ||
      ::listen(socket_.descriptor(), 1) != 0) {
    throw unfit("cannot listen on " + address.text() + ": " + std::strerror(errno));
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(socket_.descriptor(), reinterpret_cast<sockaddr*>(&bound), &size);
  address_.port =
      ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                        : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

Socket Listener::accept(const std::function<bool()>& should_stop) {
  while (!should_stop()) {
    if (!has_client(socket_.descriptor(), 100)) continue;
    const int client = ::accept4(socket_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    limit_waits(client);
    send_at_once(client);
    return Socket(client, "the client");
  }
  return Socket();
}

}  // namespace halmark::links
