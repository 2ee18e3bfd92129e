// A probe's messages as a peer sees them, and what a probe makes of a peer that is slow, gone or
// something else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "core/text/error.hpp"
#include "measure/links/link_probe.hpp"

namespace halmark::links {
namespace {

using testing::HasSubstr;

// "HMRKLINK" and the number of bytes that follow, in the order of this machine.
using Header = std::array<std::uint64_t, 2>;
constexpr std::uint64_t sign = 0x4b4e494c4b524d48;

// A peer by hand: keeps how long each message is and answers it after `delay_ms` of its number.
class Peer {
 public:
  explicit Peer(std::function<int(std::size_t)> delay_ms, std::uint64_t answer_sign = sign,
                std::size_t answers_max = 1'000'000)
      : thread_([this, delay_ms = std::move(delay_ms), answer_sign, answers_max] {
          Socket client = listener_.accept([] { return false; });
          Header header;
          std::vector<std::byte> payload;
          while (client.receive(std::as_writable_bytes(std::span(header)))) {
            payload.resize(header[1]);
            if (!payload.empty()) client.receive(payload);
            const std::size_t number = lengths_.size();
            lengths_.push_back(static_cast<std::int64_t>(header[1]));
            if (number >= answers_max) return;
            if (const int wait = delay_ms(number); wait > 0) {
              std::this_thread::sleep_for(std::chrono::milliseconds(wait));
            }
            const Header answer{answer_sign, 0};
            client.send(std::as_bytes(std::span(answer)));
          }
        }) {}
  LinkProbe probed(const LinkProbeOptions& options) {
    Socket peer = connect_to(listener_.address());
    return probe_link(peer, options);
  }
  // Of all messages, once the probe has gone.
  const std::vector<std::int64_t>& lengths() {
    if (thread_.joinable()) thread_.join();
    return lengths_;
  }

 private:
  Listener listener_{{"127.0.0.1", 0}};
  std::vector<std::int64_t> lengths_;
  std::jthread thread_;
};

int no_delay(std::size_t) { return 0; }

LinkProbeOptions options(int round_trips, std::int64_t bytes_max, double seconds = 0) {
  return {.round_trips = round_trips,
          .bytes_max = bytes_max,
          .seconds_per_size = seconds,
          .should_stop = {}};
}

// A tenth of the round trips warms up; of each size one more than the five that are timed.
TEST(LinkMessages, are_64_bytes_for_latency_and_four_times_as_many_each_time_for_bandwidth) {
  Peer peer(no_delay);
  const LinkProbe seen = peer.probed(options(30, 4 * 4096));
  EXPECT_EQ(seen.round_trips, 30);
  std::vector<std::int64_t> expected(33, 64);
  for (const std::int64_t size : {1024, 4096, 16384}) expected.insert(expected.end(), 6, size);
  EXPECT_EQ(peer.lengths(), expected);
  ASSERT_EQ(seen.sizes.size(), 3u);
  EXPECT_EQ(seen.sizes[0].bytes, 1024);
  EXPECT_EQ(seen.sizes[1].bytes, 4096);
  EXPECT_EQ(seen.sizes[2].bytes, 16384);
}

TEST(LinkMessages, of_one_size_end_after_two_thousand) {
  Peer peer(no_delay);
  peer.probed(options(1, 1024, 1000));
  EXPECT_EQ(peer.lengths().size(), 1u + 2001u);
}

TEST(LinkMessages, of_one_size_go_on_for_the_time_that_is_asked) {
  Peer peer([](std::size_t) { return 5; });
  peer.probed(options(1, 1024, 1));
  EXPECT_GE(peer.lengths().size(), 1u + 1u + 6u) << "200 of 5 ms, fewer where it is late";
  EXPECT_LE(peer.lengths().size(), 1u + 1u + 201u);
}

TEST(LinkMessages, end_where_somebody_says_so) {
  Peer peer(no_delay);
  int asked = 0;
  LinkProbeOptions stopping = options(30, 4096);
  stopping.should_stop = [&] { return ++asked > 7; };
  EXPECT_EQ(peer.probed(stopping).round_trips, 7);
  EXPECT_EQ(peer.lengths().size(), 3u + 7u) << "no message of another size";
}

// Of a hundred round trips 52, 40 or 2 take 4 ms longer, behind the ten that warm up.
TEST(LinkTimes, are_the_middle_one_and_that_of_the_slowest_percent) {
  const auto with_slow = [](std::size_t slow) {
    Peer peer([slow](std::size_t number) { return number >= 10 && number < 10 + slow ? 4 : 0; });
    return peer.probed(options(100, 512));
  };
  EXPECT_GE(with_slow(52).round_trip_p50_s, 4e-3);
  EXPECT_LT(with_slow(40).round_trip_p50_s, 4e-3);
  EXPECT_GE(with_slow(2).round_trip_p99_s, 4e-3);
  EXPECT_GE(with_slow(2).latency_p99_s(), 2e-3);
  EXPECT_TRUE(with_slow(0).sizes.empty()) << "the first size is 1 KiB";
}

// Of five messages of a size three or two take 20 ms longer, behind the one that warms up.
TEST(LinkTimes, of_a_size_likewise) {
  const auto with_slow = [](std::size_t slow) {
    Peer peer([slow](std::size_t number) { return number >= 2 && number < 2 + slow ? 20 : 0; });
    return peer.probed(options(1, 1024)).sizes.at(0);
  };
  EXPECT_GE(with_slow(3).p50_s, 20e-3);
  EXPECT_LT(with_slow(2).p50_s, 20e-3);
  EXPECT_GE(with_slow(1).p99_s, 19e-3);
  EXPECT_LT(with_slow(0).p99_s, 20e-3);
}

TEST(LinkTimes, of_a_message_that_is_no_slower_than_a_round_trip_are_a_nanosecond) {
  LinkProbe seen;
  seen.round_trip_p50_s = 20e-6;
  seen.sizes = {{1000, 20e-6, 20e-6}};
  EXPECT_NEAR(seen.bytes_per_s(), 1e12, 1);
  EXPECT_NEAR(seen.slow_bytes_per_s(), 1e12, 1);
  EXPECT_EQ(LinkProbe{}.slow_bytes_per_s(), 0);
}

std::string refusal_of(Peer& peer) {
  try {
    peer.probed(options(3, 512));
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), ExitCode::unfit);
    return e.line();
  }
  return "no refusal";
}

TEST(LinkPeer, that_answers_something_else_or_goes_is_refused) {
  Peer other(no_delay, sign + 1);
  EXPECT_THAT(refusal_of(other), HasSubstr("does not speak as halmark fabric probe does"));
  Peer gone(no_delay, sign, 2);
  EXPECT_THAT(refusal_of(gone), HasSubstr("has closed the connection"));
}

// Up to 256 MiB a message is taken; the header of a longer one ends the talk.
TEST(LinkPeer, takes_messages_of_up_to_256_mib) {
  Listener listener({"127.0.0.1", 0});
  std::vector<std::string> said;
  {
    const std::jthread answering([&](const std::stop_token& stop) {
      answer_clients(
          listener, [&] { return stop.stop_requested(); },
          [&](const std::string& line) { said.push_back(line); });
    });
    for (const std::uint64_t more : {0, 1}) {
      Socket stranger = connect_to(listener.address());
      const Header header{sign, (std::uint64_t{256} << 20) + more};
      stranger.send(std::as_bytes(std::span(header)));
      if (more == 0) continue;  // goes without the message: nothing to say
      std::array<std::byte, 1> answer;
      EXPECT_FALSE(stranger.receive(answer));
    }
  }
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0], HasSubstr("does not speak"));
}

}  // namespace
}  // namespace halmark::links
