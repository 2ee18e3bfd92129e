// Ranks that share no memory start together over sockets: the bound on their skew is the parent's.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "host/nodes/meeting.hpp"
#include "host/transport.hpp"

namespace halmark {
namespace {

using std::chrono::milliseconds;

constexpr std::array<int, 2> both{0, 1};

struct Ranks {
  std::vector<FileDescriptor> parents;
  std::vector<std::unique_ptr<MeetingPlace>> places;
  BarrierOutcome arrival(std::size_t rank, int limit_ms = 20'000) {
    return places[rank]->arrive_and_spin(2, milliseconds(limit_ms));
  }
  explicit Ranks(int count) {
    for (int i = 0; i < count; ++i) {
      auto [ours, theirs] = protocol::socket_pair();
      parents.push_back(std::move(ours));
      places.push_back(std::make_unique<MeetingPlace>(std::move(theirs)));
    }
  }
};

TEST(RankMeeting, all_rehearse_and_the_skew_is_a_time) {
  Ranks ranks(3);
  RankMeeting meeting(std::move(ranks.parents));
  std::vector<std::jthread> threads;
  for (auto& place : ranks.places) threads.emplace_back([&] { EXPECT_TRUE(place->rehearse()); });
  const auto skew_ns = meeting.rehearsed_skew_ns(20);
  ASSERT_TRUE(skew_ns);
  EXPECT_GT(*skew_ns, 0);
  EXPECT_LT(*skew_ns, 20e9);
}

TEST(RankMeeting, nobody_goes_before_the_last_is_there_and_a_late_answer_is_in_the_skew) {
  Ranks ranks(2);
  RankMeeting meeting(std::move(ranks.parents));
  const auto number = meeting.begin(both);
  std::chrono::steady_clock::time_point gone{}, came{};
  {
    std::jthread early([&] {
      ranks.places[0]->enter(number);
      EXPECT_EQ(ranks.arrival(0), BarrierOutcome::released);
      gone = std::chrono::steady_clock::now();
    });
    std::this_thread::sleep_for(milliseconds(30));
    came = std::chrono::steady_clock::now();
    ranks.places[1]->enter(number);
    EXPECT_EQ(ranks.arrival(1), BarrierOutcome::released);
  }
  EXPECT_GE(gone, came);
}

// The next request is not touched by it.
TEST(RankMeeting, one_that_gives_up_sends_the_others_on) {
  Ranks ranks(2);
  RankMeeting meeting(std::move(ranks.parents));
  for (const BarrierOutcome outcome : {BarrierOutcome::aborted, BarrierOutcome::released}) {
    const auto number = meeting.begin(both);
    std::jthread other([&] {
      ranks.places[0]->enter(number);
      EXPECT_EQ(ranks.arrival(0), outcome);
    });
    ranks.places[1]->enter(number);
    if (outcome == BarrierOutcome::aborted) {
      ranks.places[1]->abort();
    } else {
      EXPECT_EQ(ranks.arrival(1), outcome);
    }
  }
}

TEST(RankMeeting, one_that_is_gone_or_talks_nonsense_ends_the_wait) {
  for (const bool talks : {false, true}) {
    Ranks ranks(1);
    auto [ours, theirs] = protocol::socket_pair();
    ranks.parents.push_back(std::move(ours));
    RankMeeting meeting(std::move(ranks.parents));
    ranks.places[0]->enter(meeting.begin(both));
    if (talks) {
      ASSERT_EQ(::send(theirs.get(), "not a word of a rank", 20, 0), 20);
    } else {
      theirs.reset();
    }
    EXPECT_EQ(ranks.arrival(0), BarrierOutcome::aborted);
  }
}

TEST(RankMeeting, who_waits_too_long_says_so) {
  Ranks ranks(2);
  RankMeeting meeting(std::move(ranks.parents));
  ranks.places[0]->enter(meeting.begin(both));
  EXPECT_EQ(ranks.arrival(0, 20), BarrierOutcome::timed_out);
}

TEST(RankMeeting, the_stated_skew_leaves_one_start_in_twenty_above) {
  EXPECT_FALSE(stated_skew_ns({}));
  std::vector<double> skews;
  for (int i = 100; i >= 1; --i) skews.push_back(i);
  EXPECT_EQ(*stated_skew_ns(skews), 95);
}

}  // namespace
}  // namespace halmark
