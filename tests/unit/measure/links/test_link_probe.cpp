#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/text/error.hpp"
#include "measure/links/link_probe.hpp"

namespace halmark::links {
namespace {

using testing::HasSubstr;

// Answers on loopback until it goes.
class Answering {
 public:
  Answering()
      : thread_([this](const std::stop_token& stop) {
          answer_clients(
              listener_, [&] { return stop.stop_requested(); },
              [this](const std::string& line) {
                said_ = line;
                ++said_count_;
              });
        }) {}
  const Address& address() const { return listener_.address(); }
  std::string await_word() {
    for (int i = 0; i < 200 && said_count_ == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return said_count_ > 0 ? said_ : "";
  }

 private:
  Listener listener_{{"127.0.0.1", 0}};
  std::string said_;
  std::atomic<int> said_count_ = 0;
  std::jthread thread_;
};

const LinkProbeOptions quick{
    .round_trips = 300, .bytes_max = 1 << 20, .seconds_per_size = 0.01, .should_stop = {}};

TEST(LinkProbe, of_loopback_lies_where_kernel_tcp_does) {
  const Answering answering;
  Socket peer = connect_to(answering.address());
  const LinkProbe seen = probe_link(peer, quick);
  EXPECT_EQ(seen.round_trips, 300);
  // Two system calls and a wake-up at each end: never below a microsecond, here below 10 ms.
  EXPECT_GT(seen.round_trip_p50_s, 1e-6);
  EXPECT_LT(seen.round_trip_p50_s, 1e-2);
  EXPECT_GE(seen.round_trip_p99_s, seen.round_trip_p50_s);
  EXPECT_EQ(seen.latency_s(), seen.round_trip_p50_s / 2);
  ASSERT_EQ(seen.sizes.size(), 6u);  // 1 KiB, four times as much each, 1 MiB
  EXPECT_EQ(seen.sizes.back().bytes, 1 << 20);
  EXPECT_GT(seen.bytes_per_s(), 1e7);
  EXPECT_LT(seen.bytes_per_s(), 1e12);
  EXPECT_LE(seen.slow_bytes_per_s(), seen.bytes_per_s());
}

TEST(LinkProbe, a_bandwidth_is_what_a_message_needs_beyond_a_round_trip) {
  LinkProbe seen;
  EXPECT_EQ(seen.bytes_per_s(), 0);
  seen.round_trip_p50_s = 20e-6;
  seen.sizes = {{1024, 21e-6, 30e-6}, {1'000'000, 1020e-6, 2020e-6}};
  EXPECT_NEAR(seen.bytes_per_s(), 1e9, 1);
  EXPECT_NEAR(seen.slow_bytes_per_s(), 5e8, 1);
}

TEST(LinkProbe, one_client_after_the_other_is_answered) {
  const Answering answering;
  for (int i = 0; i < 3; ++i) {
    Socket peer = connect_to(answering.address());
    EXPECT_EQ(probe_link(peer, quick).round_trips, 300);
  }
}

TEST(LinkProbe, what_speaks_otherwise_is_dropped_and_named) {
  Answering answering;
  Socket stranger = connect_to(answering.address());
  const std::string request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  stranger.send(std::as_bytes(std::span(request)));
  EXPECT_THAT(answering.await_word(), HasSubstr("does not speak"));
  std::array<std::byte, 1> more;
  EXPECT_FALSE(stranger.receive(more)) << "it was let go";
  Socket peer = connect_to(answering.address());
  EXPECT_EQ(probe_link(peer, quick).round_trips, 300) << "the next one is answered";
}

// A header that promises a terabyte allocates nothing.
TEST(LinkProbe, too_long_a_message_is_refused_in_front_of_it) {
  Answering answering;
  Socket stranger = connect_to(answering.address());
  std::array<std::uint64_t, 2> header{0x4b4e494c4b524d48, std::uint64_t{1} << 40};
  stranger.send(std::as_bytes(std::span(header)));
  EXPECT_THAT(answering.await_word(), HasSubstr("does not speak"));
}

TEST(LinkProbe, a_peer_that_is_not_there_is_named) {
  std::uint16_t port = 0;
  {
    const Listener gone({"127.0.0.1", 0});
    port = gone.address().port;
  }
  try {
    connect_to({"127.0.0.1", port});
    FAIL() << "nobody listens";
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), ExitCode::unfit);
    EXPECT_THAT(e.what(), HasSubstr("127.0.0.1:" + std::to_string(port)));
    EXPECT_THAT(e.remedy(), HasSubstr("--listen"));
  }
}

TEST(LinkProbe, stops_when_it_is_told) {
  const Answering answering;
  Socket peer = connect_to(answering.address());
  LinkProbeOptions options = quick;
  options.should_stop = [] { return true; };
  EXPECT_EQ(probe_link(peer, options).round_trips, 0);
}

TEST(LinkAddress, is_a_host_and_a_port) {
  EXPECT_EQ(parse_address("10.0.0.1:7777").text(), "10.0.0.1:7777");
  EXPECT_EQ(parse_address("a-host:1").host, "a-host");
  for (const char* wrong : {"", "host", ":80", "host:", "host:99999", "host:8o", "host:-1"}) {
    EXPECT_THROW(parse_address(wrong), Error) << wrong;
  }
}

}  // namespace
}  // namespace halmark::links
