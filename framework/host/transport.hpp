// Frames over a stream socket: exact reads, bounded lengths, descriptors beside frames.
// Owns framing; knows nothing of what a payload means.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/process/file_descriptor.hpp"
#include "host/protocol.hpp"

namespace halmark::protocol {

// Nothing = wait for ever.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;
Deadline deadline_after(double seconds);

struct Frame {
  FrameHeader header{};
  std::string payload;
  std::vector<FileDescriptor> fds;
  Type type() const { return static_cast<Type>(header.type); }
};

// A peer may be damaged: anything but `frame` ends the conversation, no byte behind it is parsed.
enum class ReceiveStatus { frame, closed, truncated, malformed, timed_out, broken };
struct Received {
  ReceiveStatus status = ReceiveStatus::closed;
  Frame frame;
  std::string reason;  // empty only for a frame
  explicit operator bool() const { return status == ReceiveStatus::frame; }
};

// One end of a conversation, used by one thread. SIGPIPE is never raised: a broken pipe is an
// answer.
class Channel {
 public:
  Channel() = default;
  explicit Channel(FileDescriptor socket) : socket_(std::move(socket)) {}

  // False when the peer is gone, the payload exceeds max_payload_bytes or the deadline passed.
  // `fd` is duplicated into the peer; the caller keeps its own. Needs a Unix socket.
  [[nodiscard]] bool send(Type type, std::uint32_t request, std::uint16_t flags,
                          std::string_view payload, int fd = -1, Deadline deadline = {});
  template <class Message>
  [[nodiscard]] bool send_message(Type type, std::uint32_t request, const Message& message,
                                  int fd = -1, Deadline deadline = {}) {
    return send(type, request, 0, encode(message), fd, deadline);
  }
  // Skips unknown types that carry flag_optional. Descriptors arrive close-on-exec.
  Received receive(Deadline deadline = {});

  int fd() const { return socket_.get(); }
  void close() { socket_.reset(); }

 private:
  FileDescriptor socket_;
};

// Two connected ends, both close-on-exec.
std::pair<FileDescriptor, FileDescriptor> socket_pair();

// `samples` blocks: doubles as they lie in memory (little-endian by the framing's definition).
std::string pack_doubles(const std::vector<double>& values);
// Nothing when the payload is not a whole number of doubles.
std::optional<std::vector<double>> unpack_doubles(std::string_view payload);

}  // namespace halmark::protocol
