// Frames over a stream socket: exact reads, bounded lengths, memory beside frames.
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

// How memory travels beside a frame: between processes of one machine as a descriptor that both
// map, to another machine as a copy of its bytes, of which the receiver makes memory of its own.
// Either way it arrives as Frame::fds, so that whoever maps it need not know.
enum class MemoryBy { descriptor, copy };

// One end of a conversation, used by one thread. SIGPIPE is never raised: a broken pipe is an
// answer.
class Channel {
 public:
  Channel() = default;
  explicit Channel(FileDescriptor socket, MemoryBy memory_by = MemoryBy::descriptor)
      : socket_(std::move(socket)), memory_by_(memory_by) {}

  // False when the peer is gone, the payload exceeds max_payload_bytes or the deadline passed.
  // `fd` is duplicated into the peer, over a Unix socket, or all of its memory is copied behind the
  // frame; the caller keeps its own.
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
  MemoryBy memory_by() const { return memory_by_; }
  void close() { socket_.reset(); }

 private:
  FileDescriptor socket_;
  MemoryBy memory_by_ = MemoryBy::descriptor;
};

// Two connected ends, both close-on-exec.
std::pair<FileDescriptor, FileDescriptor> socket_pair();

// `samples` blocks: doubles as they lie in memory (little-endian by the framing's definition).
std::string pack_doubles(const std::vector<double>& values);
// Nothing when the payload is not a whole number of doubles.
std::optional<std::vector<double>> unpack_doubles(std::string_view payload);

}  // namespace halmark::protocol
