// One TCP connection with limits: every wait ends, every error is an Error with the address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace halmark::links {

// "127.0.0.1:7777"; a host name is resolved. Throws Error (exit 2) of another form.
struct Address {
  std::string host;
  std::uint16_t port = 0;
  std::string text() const { return host + ':' + std::to_string(port); }
};
Address parse_address(const std::string& text);

class Socket {
 public:
  explicit Socket(int descriptor = -1, std::string peer = {})
      : descriptor_(descriptor), peer_(std::move(peer)) {}
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;

  // Throws Error (exit 5) naming the peer when it is gone or lets ten seconds pass.
  void send(std::span<const std::byte> bytes);
  // False where the peer has closed in front of the first byte; throws as `send` does afterwards.
  bool receive(std::span<std::byte> bytes);
  int descriptor() const { return descriptor_; }
  const std::string& peer() const { return peer_; }

 private:
  int descriptor_;
  std::string peer_;
};

// Throws Error (exit 5) with the address and the system's reason.
Socket connect_to(const Address& address);

class Listener {
 public:
  // Port 0: any free one. Throws Error (exit 5) with the address and the system's reason.
  explicit Listener(const Address& address);
  const Address& address() const { return address_; }
  // The next client; a socket without descriptor once `should_stop` says so, asked every 100 ms.
  Socket accept(const std::function<bool()>& should_stop);

 private:
  Socket socket_;
  Address address_;
};

}  // namespace halmark::links
