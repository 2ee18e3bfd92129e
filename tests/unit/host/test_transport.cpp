#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "host/process/shared_memory.hpp"
#include "host/transport.hpp"

namespace halmark::protocol {
namespace {

struct Pair {
  Channel left, right;
  Pair() {
    auto [a, b] = socket_pair();
    left = Channel(std::move(a));
    right = Channel(std::move(b));
  }
  void send_raw(const FrameHeader& header, std::string_view payload) {
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes += payload;
    ASSERT_EQ(::send(left.fd(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
};

FrameHeader header_of(std::uint16_t type, std::uint32_t length) {
  return {magic, type, 0, 5, length};
}
const auto load_type = static_cast<std::uint16_t>(Type::load);

TEST(Transport, a_frame_arrives_with_its_request_and_payload) {
  Pair pair;
  ASSERT_TRUE(pair.left.send(Type::load, 41, 0, "hello"));
  const auto received = pair.right.receive(deadline_after(5));
  ASSERT_TRUE(received) << received.reason;
  EXPECT_EQ(received.frame.type(), Type::load);
  EXPECT_EQ(received.frame.header.request, 41u);
  EXPECT_EQ(received.frame.payload, "hello");
}

TEST(Transport, the_header_on_the_wire_is_16_bytes_little_endian_and_begins_with_HMW1) {
  Pair pair;
  ASSERT_TRUE(pair.left.send(Type::sample, 0x01020304, 0, "ab"));
  unsigned char bytes[18];
  ASSERT_EQ(::recv(pair.right.fd(), bytes, sizeof bytes, MSG_WAITALL), 18);
  EXPECT_EQ(std::memcmp(bytes, "HMW1", 4), 0);
  EXPECT_EQ(bytes[4], 9);
  EXPECT_EQ(bytes[8], 4);
  EXPECT_EQ(bytes[11], 1);
  EXPECT_EQ(bytes[12], 2);
}

TEST(Transport, a_payload_larger_than_the_socket_buffer_arrives_whole) {
  Pair pair;
  std::string large(max_payload_bytes, '\0');
  for (std::size_t i = 0; i < large.size(); i += 997) large[i] = static_cast<char>(i);
  std::thread sender([&] { EXPECT_TRUE(pair.left.send(Type::samples, 1, 0, large)); });
  const auto received = pair.right.receive(deadline_after(20));
  sender.join();
  ASSERT_TRUE(received) << received.reason;
  EXPECT_EQ(received.frame.payload, large);
}

TEST(Transport, a_payload_above_the_limit_is_not_sent) {
  Pair pair;
  EXPECT_FALSE(pair.left.send(Type::samples, 1, 0, std::string(max_payload_bytes + 1, 'x')));
}

TEST(Transport, an_end_of_stream_between_frames_is_closed) {
  Pair pair;
  pair.left.close();
  EXPECT_EQ(pair.right.receive(deadline_after(5)).status, ReceiveStatus::closed);
}

TEST(Transport, an_end_of_stream_inside_header_or_payload_is_truncated) {
  Pair header_cut;
  ASSERT_EQ(::send(header_cut.left.fd(), "HMW1", 4, 0), 4);
  header_cut.left.close();
  EXPECT_EQ(header_cut.right.receive(deadline_after(5)).status, ReceiveStatus::truncated);
  for (std::string_view part : {"", "abc"}) {
    Pair payload_cut;
    payload_cut.send_raw(header_of(load_type, 10), part);
    payload_cut.left.close();
    EXPECT_EQ(payload_cut.right.receive(deadline_after(5)).status, ReceiveStatus::truncated);
  }
}

TEST(Transport, a_header_that_no_worker_sends_is_malformed_before_anything_is_allocated) {
  FrameHeader other = header_of(load_type, 0);
  other.magic ^= 1;
  for (const auto& [header, reason] : {std::pair(other, "magic"),
                                       {header_of(load_type, 0xffffffff), "limit"},
                                       {header_of(load_type, max_payload_bytes + 1),
                                        "frame of 16777217 bytes exceeds the limit of 16777216"}}) {
    Pair pair;
    pair.send_raw(header, "");
    const auto received = pair.right.receive(deadline_after(5));
    EXPECT_EQ(received.status, ReceiveStatus::malformed);
    EXPECT_THAT(received.reason, testing::HasSubstr(reason));
  }
}

TEST(Transport, an_unknown_type_is_skipped_when_optional_and_refused_otherwise) {
  Pair pair;
  FrameHeader optional = header_of(900, 4);
  optional.flags = flag_optional;
  pair.send_raw(optional, "skip");
  ASSERT_TRUE(pair.left.send(Type::quit, 6, 0, ""));
  const auto received = pair.right.receive(deadline_after(5));
  ASSERT_TRUE(received);
  EXPECT_EQ(received.frame.type(), Type::quit);
  pair.send_raw(header_of(900, 0), "");
  EXPECT_EQ(pair.right.receive(deadline_after(5)).status, ReceiveStatus::malformed);
}

TEST(Transport, requests_are_types_1_to_17_and_answers_101_to_116) {
  for (const int type : {0, 1, 17, 18, 100, 101, 116, 117}) {
    Pair pair;
    pair.send_raw(header_of(static_cast<std::uint16_t>(type), 0), "");
    const bool is_known = (type >= 1 && type <= 17) || (type >= 101 && type <= 116);
    EXPECT_EQ(pair.right.receive(deadline_after(5)).status,
              is_known ? ReceiveStatus::frame : ReceiveStatus::malformed)
        << type;
  }
}

TEST(Transport, a_deadline_inside_a_frame_says_where_it_passed) {
  Pair header;
  ASSERT_EQ(::send(header.left.fd(), "HMW1", 4, 0), 4);
  const auto in_header = header.right.receive(deadline_after(0.01));
  EXPECT_EQ(in_header.status, ReceiveStatus::timed_out);
  EXPECT_EQ(in_header.reason, "deadline passed inside a frame header");
  Pair payload;
  payload.send_raw(header_of(load_type, 10), "abc");
  EXPECT_EQ(payload.right.receive(deadline_after(0.01)).status, ReceiveStatus::timed_out);
}

TEST(Transport, a_signal_neither_ends_a_wait_nor_breaks_it) {
  struct sigaction quiet {
  }, before{};
  quiet.sa_handler = [](int) {};  // without SA_RESTART: a poll is interrupted
  ::sigaction(SIGALRM, &quiet, &before);
  const itimerval soon{{0, 0}, {0, 20'000}};
  Pair pair;
  const auto begin = std::chrono::steady_clock::now();
  ::setitimer(ITIMER_REAL, &soon, nullptr);
  EXPECT_EQ(pair.right.receive(deadline_after(0.1)).status, ReceiveStatus::timed_out);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(100));
  const std::string large(max_payload_bytes, 'x');
  ::setitimer(ITIMER_REAL, &soon, nullptr);
  std::thread reader([&] {
    ::usleep(50'000);
    EXPECT_EQ(pair.right.receive(deadline_after(20)).frame.payload.size(), large.size());
  });
  EXPECT_TRUE(pair.left.send(Type::samples, 1, 0, large, -1, deadline_after(20)));
  reader.join();
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);  // one that came later would end this process
  ::sigaction(SIGALRM, &before, nullptr);
}

TEST(Transport, several_descriptors_beside_one_frame_arrive_in_order_and_four_at_most) {
  for (const std::size_t count : {3u, 5u}) {
    Pair pair;
    FrameHeader header = header_of(load_type, 0);
    iovec part{&header, sizeof header};
    alignas(cmsghdr) char control[CMSG_SPACE(5 * sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* first = CMSG_FIRSTHDR(&message);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::vector<SharedMemory> memories;
    for (std::size_t i = 0; i < count; ++i) {
      memories.push_back(
          SharedMemory::create("m", static_cast<std::int64_t>(4096 * (i + 1)), false));
      const int fd = memories.back().fd();
      std::memcpy(CMSG_DATA(first) + i * sizeof(int), &fd, sizeof fd);
    }
    ASSERT_EQ(::sendmsg(pair.left.fd(), &message, 0), 16);
    const auto received = pair.right.receive(deadline_after(5));
    ASSERT_TRUE(received) << received.reason;
    ASSERT_EQ(received.frame.fds.size(), std::min<std::size_t>(count, 4));
    for (std::size_t i = 0; i < received.frame.fds.size(); ++i) {
      struct stat status {};
      ASSERT_EQ(::fstat(received.frame.fds[i].get(), &status), 0);
      EXPECT_EQ(status.st_size, static_cast<off_t>(4096 * (i + 1)));
    }
  }
}

TEST(Transport, a_silent_peer_is_a_timeout_and_not_an_end) {
  Pair pair;
  const auto silent = pair.right.receive(deadline_after(0.01));
  EXPECT_EQ(silent.status, ReceiveStatus::timed_out);
  EXPECT_EQ(silent.reason, "deadline passed");
  ASSERT_TRUE(pair.left.send(Type::quit, 1, 0, ""));
  EXPECT_TRUE(pair.right.receive(deadline_after(5)));
}

TEST(Transport, sending_to_a_peer_that_left_is_an_answer_and_no_signal) {
  Pair pair;
  pair.right.close();
  EXPECT_FALSE(pair.left.send(Type::quit, 1, 0, "x"));
}

TEST(Transport, sending_to_a_peer_that_does_not_read_ends_at_the_deadline) {
  Pair pair;
  const std::string large(max_payload_bytes, 'x');
  EXPECT_FALSE(pair.left.send(Type::samples, 1, 0, large, -1, deadline_after(0.05)));
}

TEST(Transport, a_descriptor_travels_beside_its_frame_and_is_close_on_exec) {
  Pair pair;
  auto memory = SharedMemory::create("test", 8192, false);
  std::memcpy(memory.data() + 4096, "arena", 6);
  ASSERT_TRUE(pair.left.send(Type::load, 1, 0, "first"));
  ASSERT_TRUE(pair.left.send(Type::hello, 2, 0, "second", memory.fd()));
  auto first = pair.right.receive(deadline_after(5));
  auto second = pair.right.receive(deadline_after(5));
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first.frame.fds.empty());
  ASSERT_EQ(second.frame.fds.size(), 1u);
  EXPECT_TRUE(::fcntl(second.frame.fds[0].get(), F_GETFD) & FD_CLOEXEC);
  const auto mapped =
      SharedMemory::map(std::move(second.frame.fds[0]), 8192, Access::read_only, false);
  EXPECT_STREQ(reinterpret_cast<const char*>(mapped.data() + 4096), "arena");
}

TEST(Transport, doubles_survive_packing_bit_by_bit_and_odd_lengths_do_not_unpack) {
  const std::vector<double> values{0.0, -1.5, 1e300, std::nan("")};
  const auto unpacked = unpack_doubles(pack_doubles(values));
  ASSERT_TRUE(unpacked);
  ASSERT_EQ(unpacked->size(), values.size());
  EXPECT_EQ(std::memcmp(unpacked->data(), values.data(), 4 * sizeof(double)), 0);
  EXPECT_FALSE(unpack_doubles("seven b"));
  EXPECT_TRUE(unpack_doubles("")->empty());
}

}  // namespace
}  // namespace halmark::protocol
