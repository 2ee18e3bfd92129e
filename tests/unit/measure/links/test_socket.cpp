// Connections: their options, how each way of losing one is said, and addresses.
#include "measure/links/socket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <utility>
#include <vector>

#include "core/text/error.hpp"

namespace halmark::links {
namespace {

using testing::HasSubstr;

bool never() { return false; }

template <class Call>
std::string said_of(Call call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), ExitCode::unfit);
    return e.line();
  }
  return "no error";
}

struct Pair {
  Socket near, far;
};

Pair connected() {
  Listener listener({"127.0.0.1", 0});
  Socket near = connect_to(listener.address());
  return {std::move(near), listener.accept(never)};
}

// Two ends without a network, of which the first waits 20 ms at most.
Pair local() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const timeval limit{0, 20'000};
  ::setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  return {Socket(ends[0], "the other"), Socket(ends[1], "the first")};
}

TEST(Socket, of_both_sides_waits_ten_seconds_at_most_and_sends_at_once) {
  const Pair pair = connected();
  for (const Socket* socket : {&pair.near, &pair.far}) {
    for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
      timeval limit{};
      socklen_t size = sizeof limit;
      ASSERT_EQ(::getsockopt(socket->descriptor(), SOL_SOCKET, option, &limit, &size), 0);
      EXPECT_EQ(limit.tv_sec, 10);
      EXPECT_EQ(limit.tv_usec, 0);
    }
    int at_once = 0;
    socklen_t size = sizeof at_once;
    ASSERT_EQ(::getsockopt(socket->descriptor(), IPPROTO_TCP, TCP_NODELAY, &at_once, &size), 0);
    EXPECT_NE(at_once, 0);
  }
  EXPECT_THAT(pair.near.peer(), HasSubstr("127.0.0.1:"));
  EXPECT_EQ(pair.far.peer(), "the client");
}

TEST(Socket, gives_every_byte_however_they_arrive) {
  Pair pair = connected();
  std::vector<std::byte> sent(5 << 20), got(sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7 + i / 251);
  {
    const std::jthread sender([&] { pair.near.send(sent); });
    EXPECT_TRUE(pair.far.receive(got));
  }
  EXPECT_EQ(got, sent);
}

TEST(Socket, that_ends_in_front_of_a_message_has_none_and_within_it_is_lost) {
  std::array<std::byte, 4> bytes{};
  Pair ended = local();
  ended.far = Socket();
  EXPECT_FALSE(ended.near.receive(bytes));
  Pair within = local();
  within.far.send(std::span(bytes).first(3));
  within.far = Socket();
  EXPECT_THAT(said_of([&] { within.near.receive(bytes); }), HasSubstr("lost the other: "));
}

TEST(Socket, that_says_nothing_for_too_long_is_named) {
  std::array<std::byte, 4> bytes{};
  Pair silent = local();
  const std::string said = said_of([&] { silent.near.receive(bytes); });
  EXPECT_THAT(said, HasSubstr("no answer of the other: Connection timed out"));
  EXPECT_THAT(said, HasSubstr("halmark fabric probe --listen ADDRESS:PORT"));
  // Nobody reads: the kernel's room ends.
  const std::vector<std::byte> many(64 << 20);
  EXPECT_THAT(said_of([&] { silent.near.send(many); }), HasSubstr("no answer of the other"));
}

TEST(Socket, whose_other_end_has_gone_is_lost_when_something_is_sent) {
  Pair gone = local();
  gone.far = Socket();
  const std::array<std::byte, 4> bytes{};
  EXPECT_THAT(said_of([&] { gone.near.send(bytes); }), HasSubstr("lost the other: Broken pipe"));
}

TEST(Socket, moves_with_its_peer) {
  Pair pair = local();
  const int descriptor = pair.near.descriptor();
  Socket moved(std::move(pair.near));
  EXPECT_EQ(moved.descriptor(), descriptor);
  EXPECT_EQ(moved.peer(), "the other");
  Socket assigned;
  EXPECT_EQ(assigned.descriptor(), -1);
  assigned = std::move(moved);
  EXPECT_EQ(assigned.descriptor(), descriptor);
  EXPECT_EQ(assigned.peer(), "the other");
}

TEST(Listener, is_of_any_free_port_and_of_one_that_is_taken_says_so) {
  const Listener first({"127.0.0.1", 0});
  EXPECT_GT(first.address().port, 0);
  EXPECT_EQ(first.address().host, "127.0.0.1");
  const std::string said = said_of([&] { Listener second(first.address()); });
  EXPECT_THAT(said, HasSubstr("cannot listen on " + first.address().text() + ": "));
  EXPECT_THAT(said_of([] {
                Listener nowhere({"no.such.host.invalid", 0});
              }),
              HasSubstr("cannot resolve 'no.such.host.invalid'"));
}

// Asked of the system itself: a listener that fails must not look like a machine without it.
bool has_newer_protocol() {
  const int descriptor = ::socket(AF_INET6, SOCK_STREAM, 0);
  if (descriptor < 0) return false;
  const sockaddr_in6 loopback{.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  const auto* address = reinterpret_cast<const sockaddr*>(&loopback);
  const bool is_bound = ::bind(descriptor, address, sizeof loopback) == 0;
  ::close(descriptor);
  return is_bound;
}

TEST(Listener, has_a_port_of_the_newer_internet_protocol_too) {
  if (!has_newer_protocol()) GTEST_SKIP() << "no IPv6 on this machine's loopback";
  Listener listener({"::1", 0});
  EXPECT_GT(listener.address().port, 0);
  Socket near = connect_to(listener.address());
  EXPECT_GE(listener.accept(never).descriptor(), 0);
}

TEST(Listener, stops_waiting_when_it_is_told) {
  Listener listener({"127.0.0.1", 0});
  int asked = 0;
  EXPECT_EQ(listener.accept([&] { return ++asked > 2; }).descriptor(), -1);
  EXPECT_EQ(asked, 3);
}

TEST(LinkAddress, has_a_port_of_sixteen_bits_behind_the_last_colon) {
  EXPECT_EQ(parse_address("h:65535").port, 65535);
  EXPECT_EQ(parse_address("h:0").port, 0);
  EXPECT_EQ(parse_address("::1:80").host, "::1");
  EXPECT_EQ(parse_address("::1:80").port, 80);
  EXPECT_EQ(parse_address("a:1").host, "a") << "one letter is a host";
  for (const char* bad : {"h:65536", "h:80x", "h: 80", ":80"}) {
    try {
      parse_address(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.exit_code(), ExitCode::refused);
      EXPECT_THAT(e.line(), HasSubstr("'" + std::string(bad) + "' is no address; write HOST:PORT"));
    }
  }
}

}  // namespace
}  // namespace halmark::links
