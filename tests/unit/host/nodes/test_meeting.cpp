// Ranks that share no memory start together over sockets: the bound on their skew is the parent's.
// The messages of a common start one by one: what each side says, and what it does not accept.
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/time.h>
#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "host/nodes/meeting.hpp"
#include "host/transport.hpp"

namespace halmark {
namespace {

using Kind = MeetingMessage::Kind;
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

void say(const FileDescriptor& socket, Kind kind, std::uint32_t meeting, std::uint32_t start) {
  const MeetingMessage message{.kind = kind, .meeting = meeting, .start = start};
  ASSERT_EQ(::send(socket.get(), &message, sizeof message, 0),
            static_cast<ssize_t>(sizeof message));
}

// The next message within so long; nothing where none comes.
std::optional<MeetingMessage> heard(const FileDescriptor& socket, int limit_ms = 20'000) {
  const timeval limit{limit_ms / 1000, limit_ms % 1000 * 1000};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  MeetingMessage out;
  const ssize_t count = ::recv(socket.get(), &out, sizeof out, MSG_WAITALL);
  return count == static_cast<ssize_t>(sizeof out) ? std::optional(out) : std::nullopt;
}

void expect_message(const FileDescriptor& socket, Kind kind, std::uint32_t meeting,
                    std::uint32_t start) {
  const auto message = heard(socket);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->magic, 0x31544d48u);
  EXPECT_EQ(message->kind, kind);
  EXPECT_EQ(message->meeting, meeting);
  EXPECT_EQ(message->start, start);
}

TEST(MeetingPlace, says_that_it_is_here_and_that_it_is_gone) {
  auto [parent, rank] = protocol::socket_pair();
  MeetingPlace place(std::move(rank));
  place.enter(7);
  for (const std::uint32_t start : {0u, 1u}) {
    std::jthread waits([&] {
      EXPECT_EQ(place.arrive_and_spin(2, milliseconds(20'000)), BarrierOutcome::released);
    });
    expect_message(parent, Kind::here, 7, start);
    say(parent, Kind::go, 6, start);     // of an earlier meeting: no answer to this one
    say(parent, Kind::abort, 6, start);  // likewise
    EXPECT_FALSE(heard(parent, 50)) << "it waits on";
    say(parent, Kind::go, 7, start);
    waits.join();
    expect_message(parent, Kind::gone, 7, start);
  }
  place.enter(8);
  std::jthread again(
      [&] { EXPECT_EQ(place.arrive_and_spin(2, milliseconds(20'000)), BarrierOutcome::aborted); });
  expect_message(parent, Kind::here, 8, 0);
  say(parent, Kind::abort, 8, 0);
  again.join();
  EXPECT_EQ(place.arrive_and_spin(2, milliseconds(20'000)), BarrierOutcome::aborted)
      << "what is aborted stays so";
  EXPECT_FALSE(heard(parent, 20));
}

TEST(MeetingPlace, gives_up_once_where_it_waits_too_long) {
  auto [parent, rank] = protocol::socket_pair();
  MeetingPlace place(std::move(rank));
  place.enter(3);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(place.arrive_and_spin(2, milliseconds(30)), BarrierOutcome::timed_out);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(30));
  expect_message(parent, Kind::here, 3, 0);
  expect_message(parent, Kind::abort, 3, 0);
  place.abort();
  EXPECT_FALSE(heard(parent, 20)) << "it said so already";
  parent.reset();
  place.enter(4);
  EXPECT_EQ(place.arrive_and_spin(2, milliseconds(20'000)), BarrierOutcome::aborted);
}

TEST(MeetingPlace, rehearses_64_starts) {
  auto [parent, rank] = protocol::socket_pair();
  MeetingPlace place(std::move(rank));
  std::jthread rehearses([&] { EXPECT_TRUE(place.rehearse()); });
  for (std::uint32_t start = 0; start < 64; ++start) {
    expect_message(parent, Kind::here, 1, start);
    say(parent, Kind::go, 1, start);
    expect_message(parent, Kind::gone, 1, start);
  }
  rehearses.join();
  EXPECT_FALSE(heard(parent, 20));
}

// A meeting of two ranks whose ends the test holds.
struct TwoRanks {
  TwoRanks() {
    std::vector<FileDescriptor> parents;
    for (FileDescriptor& rank : ranks) {
      auto [ours, theirs] = protocol::socket_pair();
      parents.push_back(std::move(ours));
      rank = std::move(theirs);
    }
    meeting = std::make_unique<RankMeeting>(std::move(parents));
  }
  std::uint32_t begin(std::vector<int> who = {0, 1}) {
    return static_cast<std::uint32_t>(meeting->begin(who));
  }
  void both_hear(Kind kind, std::uint32_t number, std::uint32_t start) const {
    for (const FileDescriptor& rank : ranks) expect_message(rank, kind, number, start);
  }
  std::array<FileDescriptor, 2> ranks;
  std::unique_ptr<RankMeeting> meeting;
};

std::vector<double> await_skews(RankMeeting& meeting, std::size_t count) {
  for (int i = 0; i < 20'000 && meeting.skews_ns().size() < count; ++i) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  return meeting.skews_ns();
}

TEST(RankMeetingMessages, all_go_when_the_last_is_there_and_the_skew_is_until_the_last_answer) {
  TwoRanks two;
  const auto number = two.begin();
  EXPECT_EQ(number, 2u) << "behind the rehearsal";
  for (const std::uint32_t start : {0u, 1u}) {
    say(two.ranks[0], Kind::here, number, start);
    EXPECT_FALSE(heard(two.ranks[0], 20));
    say(two.ranks[1], Kind::here, number, start);
    two.both_hear(Kind::go, number, start);
    say(two.ranks[0], Kind::gone, number, start);
    std::this_thread::sleep_for(milliseconds(30));
    EXPECT_EQ(two.meeting->skews_ns().size(), start);
    say(two.ranks[1], Kind::gone, number, start);
    const auto skews = await_skews(*two.meeting, start + 1);
    ASSERT_EQ(skews.size(), start + 1);
    EXPECT_GE(skews.back(), 30e6);
    EXPECT_LT(skews.back(), 10e9);
  }
}

TEST(RankMeetingMessages, who_takes_no_part_is_not_waited_for) {
  TwoRanks two;
  const auto number = two.begin({1});
  say(two.ranks[1], Kind::here, number, 0);
  expect_message(two.ranks[1], Kind::go, number, 0);
  say(two.ranks[1], Kind::gone, number, 0);
  EXPECT_EQ(await_skews(*two.meeting, 1).size(), 1u);
  EXPECT_FALSE(heard(two.ranks[0], 20));
  say(two.ranks[0], Kind::here, number, 0);
  expect_message(two.ranks[0], Kind::abort, number, 1);
  say(two.ranks[1], Kind::here, number - 1, 0);
  const auto late = heard(two.ranks[1]);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->kind, Kind::abort) << "who comes to what is over must not wait for it";
  EXPECT_EQ(late->meeting, number - 1);
}

TEST(RankMeetingMessages, what_no_rank_says_now_ends_the_meeting) {
  const std::pair<Kind, std::uint32_t> wrong[] = {
      {Kind::here, 1}, {Kind::gone, 0}, {Kind::go, 0}, {Kind::abort, 0}};
  for (const auto& [kind, start] : wrong) {
    TwoRanks two;
    const auto number = two.begin();
    say(two.ranks[0], kind, number, start);
    two.both_hear(Kind::abort, number, 0);
  }
}

TEST(RankMeetingMessages, an_answer_is_given_once) {
  TwoRanks two;
  const auto number = two.begin();
  for (const FileDescriptor& rank : two.ranks) say(rank, Kind::here, number, 0);
  two.both_hear(Kind::go, number, 0);
  say(two.ranks[0], Kind::gone, number, 0);
  say(two.ranks[0], Kind::gone, number, 0);
  expect_message(two.ranks[1], Kind::abort, number, 1);
}

TEST(RankMeetingMessages, come_in_any_pieces_and_have_their_mark) {
  TwoRanks two;
  const auto number = two.begin({0});
  MeetingMessage message{.kind = Kind::here, .meeting = number, .start = 0};
  const char* const bytes = reinterpret_cast<const char*>(&message);
  ASSERT_EQ(::send(two.ranks[0].get(), bytes, 5, 0), 5);
  std::this_thread::sleep_for(milliseconds(10));
  ASSERT_EQ(::send(two.ranks[0].get(), bytes + 5, 11, 0), 11);
  expect_message(two.ranks[0], Kind::go, number, 0);
  message = {.magic = 1, .kind = Kind::gone, .meeting = number, .start = 0};
  ASSERT_EQ(::send(two.ranks[0].get(), &message, sizeof message, 0), 16);
  char byte = 0;
  EXPECT_EQ(::recv(two.ranks[0].get(), &byte, 1, 0), 0) << "its line is closed";
}

TEST(RankMeetingMessages, a_rehearsal_that_nobody_comes_to_has_no_skew) {
  TwoRanks two;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(two.meeting->rehearsed_skew_ns(0.05));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(50));
  two.meeting->abort();
  two.both_hear(Kind::abort, 1, 0);
  const auto later = std::chrono::steady_clock::now();
  EXPECT_FALSE(two.meeting->rehearsed_skew_ns(20));
  EXPECT_LT(std::chrono::steady_clock::now() - later, std::chrono::seconds(5)) << "it is over";
}

}  // namespace
}  // namespace halmark
