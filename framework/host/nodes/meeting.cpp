#include "host/nodes/meeting.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/lists.hpp"
#include "core/numeric/clock.hpp"
#include "core/text/units.hpp"

namespace halmark {
namespace {

double now_ns() {
  return std::chrono::duration<double, std::nano>(SteadyClock::now().time_since_epoch()).count();
}

}  // namespace

std::optional<double> stated_skew_ns(std::span<const double> skews_ns) {
  if (skews_ns.empty()) return std::nullopt;
  std::vector<double> sorted(skews_ns.begin(), skews_ns.end());
  std::ranges::sort(sorted);
  return sorted[(sorted.size() - 1) * 19 / 20];
}

RankMeeting::RankMeeting(std::vector<FileDescriptor> sockets) : wake_(::eventfd(0, EFD_CLOEXEC)) {
  std::vector<int> all;
  for (FileDescriptor& socket : sockets) {
    all.push_back(as_int(all.size()));
    ranks_.push_back({.socket = std::move(socket), .read = {}});
  }
  begin_locked(all);
  thread_ = std::thread([this] { serve(); });
}

RankMeeting::~RankMeeting() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
  thread_.join();
}

std::optional<double> RankMeeting::rehearsed_skew_ns(double limit_s) {
  const auto begin = SteadyClock::now();
  while (seconds_since(begin) < limit_s) {
    const std::vector<double> skews = skews_ns();
    if (skews.size() >= rehearsed_starts) {
      return stated_skew_ns(std::span(skews).subspan(skews.size() / 4));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::lock_guard lock(mutex_);
    if (is_aborted_) break;
  }
  return std::nullopt;
}

std::int64_t RankMeeting::begin(std::span<const int> ranks) {
  const std::lock_guard lock(mutex_);
  begin_locked(ranks);
  return meeting_;
}

void RankMeeting::begin_locked(std::span<const int> ranks) {
  ++meeting_;
  start_ = 0;
  is_aborted_ = false;
  skews_ns_.clear();
  for (Rank& rank : ranks_) rank.takes_part = rank.is_here = rank.is_gone = false;
  for (const int rank : ranks) ranks_[as_size(rank)].takes_part = true;
}

void RankMeeting::abort() {
  const std::lock_guard lock(mutex_);
  abort_locked();
}

std::vector<double> RankMeeting::skews_ns() {
  const std::lock_guard lock(mutex_);
  return skews_ns_;
}

void RankMeeting::serve() {
  while (true) {
    std::vector<pollfd> entries{{wake_.get(), POLLIN, 0}};
    for (const Rank& rank : ranks_) entries.push_back({rank.socket.get(), POLLIN, 0});
    ::poll(entries.data(), entries.size(), -1);
    const std::lock_guard lock(mutex_);
    if (ends_) return;
    for (const auto i : indices(ranks_)) {
      if (entries[i + 1].revents != 0) read_messages(ranks_[i]);
    }
  }
}

// Whole messages; a rank that is gone, or says what no rank says, ends the meeting for the others.
void RankMeeting::read_messages(Rank& rank) {
  std::array<char, 256> bytes{};
  const ssize_t count = ::recv(rank.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  bool is_sound = count > 0;
  if (is_sound) rank.read.insert(rank.read.end(), bytes.begin(), bytes.begin() + count);
  while (is_sound && rank.read.size() >= sizeof(MeetingMessage)) {
    MeetingMessage message;
    std::memcpy(&message, rank.read.data(), sizeof message);
    rank.read.erase(rank.read.begin(), rank.read.begin() + sizeof message);
    is_sound = message.magic == MeetingMessage{}.magic;
    if (is_sound) take(rank, message);
  }
  if (is_sound) return;
  rank.socket.reset();  // poll skips it from now on
  abort_locked();
}

void RankMeeting::take(Rank& rank, const MeetingMessage& message) {
  using Kind = MeetingMessage::Kind;
  const bool is_present = message.meeting == meeting_ && rank.takes_part && !is_aborted_;
  if (!is_present) {
    // Who comes to what is over must not wait for it.
    if (message.kind == Kind::here) send(rank, Kind::abort, message.meeting);
  } else if (message.kind == Kind::abort) {
    abort_locked();
  } else if (message.kind == Kind::here && message.start == start_) {
    rank.is_here = true;
    const auto is_there = [](const Rank& r) { return !r.takes_part || r.is_here; };
    if (std::ranges::all_of(ranks_, is_there)) release();
  } else if (message.kind == Kind::gone && message.start + 1 == start_ && !rank.is_gone) {
    rank.is_gone = true;
    note_answer();
  } else {
    abort_locked();
  }
}

void RankMeeting::release() {
  first_go_ns_ = now_ns();
  for (Rank& rank : ranks_) {
    if (rank.takes_part) send(rank, MeetingMessage::Kind::go, meeting_);
    rank.is_here = rank.is_gone = false;
  }
  ++start_;
}

void RankMeeting::note_answer() {
  last_answer_ns_ = now_ns();
  const auto has_gone = [](const Rank& r) { return !r.takes_part || r.is_gone; };
  if (std::ranges::all_of(ranks_, has_gone)) skews_ns_.push_back(last_answer_ns_ - first_go_ns_);
}

void RankMeeting::abort_locked() {
  if (is_aborted_) return;
  is_aborted_ = true;
  for (Rank& rank : ranks_) {
    if (rank.takes_part) send(rank, MeetingMessage::Kind::abort, meeting_);
  }
}

// What cannot be written at once is not read at the other end: read_messages() will find it gone.
void RankMeeting::send(Rank& rank, MeetingMessage::Kind kind, std::uint32_t meeting) {
  const MeetingMessage message{.kind = kind, .meeting = meeting, .start = start_};
  [[maybe_unused]] const ssize_t sent =
      ::send(rank.socket.get(), &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace halmark
