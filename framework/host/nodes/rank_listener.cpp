#include "host/nodes/rank_listener.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

constexpr const char* listen_option = "--mpi-listen";
constexpr std::string_view greeting = "HMRANK1\n";
constexpr std::size_t token_digits = 64;
constexpr std::chrono::seconds patience{5};

// As it lies on the line, little-endian as every frame.
struct Opening {
  char greeting[8];
  char token[token_digits];
  std::uint32_t line, rank;
};
static_assert(sizeof(Opening) == 80);

std::string draw_long_token() {
  constexpr char digits[] = "0123456789abcdef";
  std::array<unsigned char, token_digits / 2> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw unfit("the system gives no random bytes");
  }
  std::string out;
  for (const unsigned char byte : bytes) {
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

// Takes as long whatever is wrong.
bool is_same(const char* a, const char* b, std::size_t count) {
  unsigned differs = 0;
  for (const auto i : indices(count)) differs |= static_cast<unsigned>(a[i] ^ b[i]);
  return differs == 0;
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses addresses_of(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  return {error == 0 ? found : nullptr, &::freeaddrinfo};
}

bool is_wildcard(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr == htonl(INADDR_ANY);
  }
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

// Small messages at once, and a peer that vanished is noticed.
void set_up(int socket) {
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
}

}  // namespace

RankListener::RankListener(const std::string& address, int ranks)
    : token_(draw_long_token()), meetings_(as_size(ranks)) {
  const Addresses found = addresses_of(address, 0);
  if (!found || is_wildcard(found->ai_addr)) {
    throw refused("'" + address + "' is not an address of this machine", listen_option,
                  "name the one on which the other nodes reach it");
  }
  listener_ = FileDescriptor(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener_ || ::bind(listener_.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(listener_.get(), 2 * ranks + 16) != 0) {
    throw unfit("nothing can listen at " + address + ": " + std::strerror(errno),
                "name another address of this machine with --mpi-listen");
  }
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  auto* const bound = reinterpret_cast<sockaddr*>(&own);
  if (::getsockname(listener_.get(), bound, &length) != 0 ||
      ::getnameinfo(bound, length, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    throw unfit("the address " + address + " cannot be told to the ranks");
  }
  address_ = host.data();
  port_ = std::stoi(port.data());
}

std::vector<std::string> RankListener::arguments() const {
  return {"--connect-to", address_, "--port", std::to_string(port_)};
}

bool RankListener::is_complete() const {
  return std::ranges::all_of(meetings_, [](const FileDescriptor& m) { return bool(m); });
}

// Callers that say nothing take a place only for a while, and no more of them than there is room.
void RankListener::admit_callers() {
  const std::size_t callers_max = 4 * meetings_.size() + 64;
  FileDescriptor caller(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!caller) return;
  if (callers_.size() >= callers_max) callers_.erase(callers_.begin());
  callers_.push_back(
      {.socket = std::move(caller), .until = std::chrono::steady_clock::now() + patience});
}

bool RankListener::read_handshake(Caller& caller) {
  if (caller.read == opening_bytes) return true;
  const ssize_t count = ::recv(caller.socket.get(), caller.opening.data() + caller.read,
                               opening_bytes - caller.read, MSG_DONTWAIT);
  if (count > 0) caller.read += as_size(count);
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

std::optional<protocol::Channel> RankListener::opened(Caller& caller) {
  Opening opening{};
  std::memcpy(&opening, caller.opening.data(), sizeof opening);
  if (!is_same(opening.greeting, greeting.data(), greeting.size()) ||
      !is_same(opening.token, token_.data(), token_digits) || opening.rank >= meetings_.size()) {
    return std::nullopt;
  }
  set_up(caller.socket.get());
  if (opening.line == as_uint32(RankLine::requests)) {
    return protocol::Channel(std::move(caller.socket), protocol::MemoryBy::copy);
  }
  FileDescriptor& meeting = meetings_[opening.rank];
  if (opening.line == as_uint32(RankLine::meetings) && !meeting) {
    meeting = std::move(caller.socket);
  }
  return std::nullopt;
}

std::optional<protocol::Channel> RankListener::accept() {
  std::vector<pollfd> entries{{listener_.get(), POLLIN, 0}};
  for (const Caller& caller : callers_) entries.push_back({caller.socket.get(), POLLIN, 0});
  if (::poll(entries.data(), entries.size(), 50) < 0) return std::nullopt;
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(callers_,
                [&](Caller& caller) { return !read_handshake(caller) || now > caller.until; });
  const auto whole = std::ranges::find(callers_, opening_bytes, &Caller::read);
  if (whole != callers_.end()) {
    Caller caller = std::move(*whole);
    callers_.erase(whole);
    return opened(caller);
  }
  if (entries.front().revents != 0) admit_callers();
  return std::nullopt;
}

FileDescriptor connect_rank(const std::string& address, int port, const std::string& token,
                            int rank, RankLine line) {
  const Addresses found = addresses_of(address, port);
  if (!found || token.size() != token_digits) return {};
  FileDescriptor socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), found->ai_addr, found->ai_addrlen) != 0) return {};
  Opening opening{.greeting = {}, .token = {}, .line = as_uint32(line), .rank = as_uint32(rank)};
  std::memcpy(opening.greeting, greeting.data(), sizeof opening.greeting);
  std::memcpy(opening.token, token.data(), token_digits);
  if (::send(socket.get(), &opening, sizeof opening, MSG_NOSIGNAL) !=
      static_cast<ssize_t>(sizeof opening)) {
    return {};
  }
  set_up(socket.get());
  return socket;
}

}  // namespace halmark
