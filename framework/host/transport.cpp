#include "host/transport.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/lists.hpp"
#include "host/memory_copy.hpp"

namespace halmark::protocol {
namespace {

constexpr std::size_t max_fds_per_frame = 4;

bool is_known(std::uint16_t type) {
  return (type >= static_cast<std::uint16_t>(Type::hello) &&
          type <= static_cast<std::uint16_t>(Type::memory)) ||
         (type >= static_cast<std::uint16_t>(Type::plugin) &&
          type <= static_cast<std::uint16_t>(Type::answer));
}

enum class Ready { yes, timed_out, broken };

// An answer that is on its way costs two wake-ups through the scheduler when both sides sleep
// (15 us seen), so the reader looks this long before it sleeps.
constexpr std::chrono::microseconds look_before_sleep{30};

bool comes_soon(int fd) {
  const auto end = std::chrono::steady_clock::now() + look_before_sleep;
  char byte = 0;
  do {
    if (::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0) return true;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return true;  // the caller's read names it
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

Ready wait_ready(int fd, short events, const Deadline& deadline) {
  while (true) {
    int timeout_ms = -1;
    if (deadline) {
      const auto left = *deadline - std::chrono::steady_clock::now();
      if (left <= left.zero()) return Ready::timed_out;
      // Rounded up, or the last millisecond would be a busy loop.
      const auto left_ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
      timeout_ms = as_int(std::min<long long>(left_ms, 1 << 30));
    }
    pollfd entry{fd, events, 0};
    const int count = ::poll(&entry, 1, timeout_ms);
    if (count > 0) return Ready::yes;
    if (count < 0 && errno != EINTR) return Ready::broken;
  }
}

void take_descriptors(msghdr& message, std::vector<FileDescriptor>& fds) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (const auto i : indices(count)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      fds.emplace_back(fd);
    }
  }
}

// One receive of at most `bytes`; also takes descriptors. -1 with errno as recvmsg.
ssize_t receive_some(int fd, void* target, std::size_t bytes, std::vector<FileDescriptor>& fds) {
  iovec part{target, bytes};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(max_fds_per_frame * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t count = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (count >= 0) take_descriptors(message, fds);
  return count;
}

bool send_all(int fd, const char* bytes, std::size_t count, const Deadline& deadline) {
  while (count > 0) {
    const ssize_t sent = ::send(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes += sent;
      count -= as_size(sent);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (wait_ready(fd, POLLOUT, deadline) != Ready::yes) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

struct ReadOutcome {
  ReceiveStatus status = ReceiveStatus::frame;
  std::size_t bytes = 0;
  std::string reason;
};

ReadOutcome read_exactly(int fd, void* target, std::size_t bytes, const Deadline& deadline,
                         std::vector<FileDescriptor>& fds) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t count = receive_some(fd, static_cast<char*>(target) + done, bytes - done, fds);
    if (count > 0) {
      done += as_size(count);
    } else if (count == 0 || errno == ECONNRESET) {
      const auto status = done == 0 ? ReceiveStatus::closed : ReceiveStatus::truncated;
      return {status, done, "end of stream after " + std::to_string(done) + " bytes"};
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (comes_soon(fd)) continue;
      const Ready ready = wait_ready(fd, POLLIN, deadline);
      if (ready == Ready::timed_out) return {ReceiveStatus::timed_out, done, "deadline passed"};
      if (ready == Ready::broken) return {ReceiveStatus::broken, done, std::strerror(errno)};
    } else if (errno != EINTR) {
      return {ReceiveStatus::broken, done, std::strerror(errno)};
    }
  }
  return {ReceiveStatus::frame, done, {}};
}

Received fail(ReceiveStatus status, std::string reason) {
  Received received;
  received.status = status;
  received.reason = std::move(reason);
  return received;
}

}  // namespace

Deadline deadline_after(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
             std::chrono::duration<double>(seconds));
}

bool Channel::send(Type type, std::uint32_t request, std::uint16_t flags, std::string_view payload,
                   int fd, Deadline deadline) {
  if (payload.size() > max_payload_bytes) return false;
  const bool copies = fd >= 0 && memory_by_ == MemoryBy::copy;
  if (copies) flags |= flag_memory;
  FrameHeader header{magic, static_cast<std::uint16_t>(type), flags, request,
                     as_uint32(payload.size())};
  std::array<iovec, 2> parts{iovec{&header, sizeof header},
                             iovec{const_cast<char*>(payload.data()), payload.size()}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (fd >= 0 && !copies) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &fd, sizeof(int));
  }
  std::size_t left = sizeof header + payload.size();
  while (left > 0) {
    const ssize_t count = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
      if (wait_ready(socket_.get(), POLLOUT, deadline) != Ready::yes) return false;
      continue;
    }
    left -= as_size(count);
    message.msg_control = nullptr;  // the descriptor went with the first byte
    message.msg_controllen = 0;
    auto sent = as_size(count);
    for (iovec& part : parts) {
      const std::size_t step = std::min(sent, part.iov_len);
      part.iov_base = static_cast<char*>(part.iov_base) + step;
      part.iov_len -= step;
      sent -= step;
    }
  }
  return !copies || send_memory(fd, [&](const char* bytes, std::size_t count) {
    return send_all(socket_.get(), bytes, count, deadline);
  });
}

Received Channel::receive(Deadline deadline) {
  while (true) {
    Received received;
    Frame& frame = received.frame;
    auto head =
        read_exactly(socket_.get(), &frame.header, sizeof frame.header, deadline, frame.fds);
    if (head.status == ReceiveStatus::timed_out && head.bytes > 0) {
      return fail(ReceiveStatus::timed_out, "deadline passed inside a frame header");
    }
    if (head.status != ReceiveStatus::frame) return fail(head.status, head.reason);
    if (frame.header.magic != magic) return fail(ReceiveStatus::malformed, "bad frame magic");
    if (frame.header.length > max_payload_bytes) {
      return fail(ReceiveStatus::malformed, "frame of " + std::to_string(frame.header.length) +
                                                " bytes exceeds the limit of " +
                                                std::to_string(max_payload_bytes));
    }
    const bool known = is_known(frame.header.type);
    if (!known && !(frame.header.flags & flag_optional)) {
      return fail(ReceiveStatus::malformed,
                  "unknown frame type " + std::to_string(frame.header.type));
    }
    frame.payload.resize(frame.header.length);
    auto body = read_exactly(socket_.get(), frame.payload.data(), frame.payload.size(), deadline,
                             frame.fds);
    if (body.status == ReceiveStatus::closed) body.status = ReceiveStatus::truncated;
    if (body.status != ReceiveStatus::frame) return fail(body.status, body.reason);
    if (frame.header.flags & flag_memory) {
      if (memory_by_ != MemoryBy::copy) {
        return fail(ReceiveStatus::malformed, "memory was copied where a descriptor travels");
      }
      const auto read = [&](void* to, std::size_t count) {
        body = read_exactly(socket_.get(), to, count, deadline, frame.fds);
        return body.status == ReceiveStatus::frame;
      };
      FileDescriptor memory;
      if (auto why = receive_memory(read, memory); !why.empty()) {
        return body.status == ReceiveStatus::frame ? fail(ReceiveStatus::malformed, std::move(why))
                                                   : fail(body.status, body.reason);
      }
      frame.fds.push_back(std::move(memory));
    }
    if (!known) continue;
    received.status = ReceiveStatus::frame;
    return received;
  }
}

std::pair<FileDescriptor, FileDescriptor> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

std::string pack_doubles(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

std::optional<std::vector<double>> unpack_doubles(std::string_view payload) {
  if (payload.size() % sizeof(double) != 0) return std::nullopt;
  std::vector<double> values(payload.size() / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), payload.data(), payload.size());
  return values;
}

}  // namespace halmark::protocol
