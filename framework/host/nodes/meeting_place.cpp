#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "host/nodes/meeting.hpp"

namespace halmark {

using Kind = MeetingMessage::Kind;

void MeetingPlace::enter(std::int64_t meeting) {
  meeting_ = static_cast<std::uint32_t>(meeting);
  start_ = 0;
  is_aborted_ = false;
}

bool MeetingPlace::rehearse() {
  enter(RankMeeting::rehearsal);
  for (int i = 0; i < RankMeeting::rehearsed_starts; ++i) {
    if (arrive_and_spin(0, std::chrono::seconds(20)) != BarrierOutcome::released) return false;
  }
  return true;
}

// The parent knows who takes part.
BarrierOutcome MeetingPlace::arrive_and_spin(int, std::chrono::nanoseconds timeout) {
  if (is_aborted_ || !send(Kind::here)) return BarrierOutcome::aborted;
  const BarrierOutcome outcome = wait(timeout);
  if (outcome == BarrierOutcome::timed_out) abort();
  if (outcome != BarrierOutcome::released) {
    is_aborted_ = true;
    return outcome;
  }
  // In front of the interval, not inside: the answer bounds when it began.
  if (!send(Kind::gone)) return BarrierOutcome::aborted;
  ++start_;
  return outcome;
}

void MeetingPlace::abort() {
  if (!is_aborted_) (void)send(Kind::abort);
  is_aborted_ = true;
}

bool MeetingPlace::send(Kind kind) {
  const MeetingMessage message{.kind = kind, .meeting = meeting_, .start = start_};
  return ::send(socket_.get(), &message, sizeof message, MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof message);
}

// A sleeping rank would begin a wake-up later than one that looks.
BarrierOutcome MeetingPlace::wait(std::chrono::nanoseconds timeout) {
  constexpr std::uint32_t yield_after = 256;
  const auto begin = std::chrono::steady_clock::now();
  std::array<char, sizeof(MeetingMessage)> bytes{};
  std::size_t read = 0;
  for (std::uint32_t spins = 1;; ++spins) {
    const ssize_t count =
        ::recv(socket_.get(), bytes.data() + read, bytes.size() - read, MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
      return BarrierOutcome::aborted;
    }
    read += static_cast<std::size_t>(std::max<ssize_t>(0, count));
    if (read == bytes.size()) {
      MeetingMessage message;
      std::memcpy(&message, bytes.data(), sizeof message);
      read = 0;
      // What is left of an earlier meeting is no answer to this one.
      if (message.meeting != meeting_) continue;
      if (message.kind == Kind::go) return BarrierOutcome::released;
      if (message.kind == Kind::abort) return BarrierOutcome::aborted;
    }
    if (count > 0) continue;
    if (std::chrono::steady_clock::now() - begin > timeout) return BarrierOutcome::timed_out;
    if (spins >= yield_after) ::sched_yield();
  }
}

}  // namespace halmark
