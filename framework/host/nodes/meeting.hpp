// The common start of ranks whose machines share no memory and no clock: each says that it is
// there, the parent lets all go, each says that it went. Rank i began between the message that let
// it go and its answer, both by the parent's clock; so no two began further apart than from the
// first such message to the last answer. That is the skew of a start: a bound, not an estimate.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "host/process/file_descriptor.hpp"
#include "host/process/start_barrier.hpp"

namespace halmark {

struct MeetingMessage {
  enum class Kind : std::uint32_t { here = 1, go = 2, gone = 3, abort = 4 };
  std::uint32_t magic = 0x31544d48;  // "HMT1"
  Kind kind = Kind::here;
  std::uint32_t meeting = 0;  // the request that it belongs to
  std::uint32_t start = 0;    // within the meeting, from 0
};
static_assert(sizeof(MeetingMessage) == 16);

// Of a skew bound, what a figure rests on: one start in twenty may have been worse.
std::optional<double> stated_skew_ns(std::span<const double> skews_ns);

// The parent's side, with a thread of its own.
class RankMeeting {
 public:
  // One socket per rank. All of them rehearse first, under the number `rehearsal`.
  static constexpr std::int64_t rehearsal = 1;
  static constexpr int rehearsed_starts = 64;
  explicit RankMeeting(std::vector<FileDescriptor> sockets);
  ~RankMeeting();
  RankMeeting(const RankMeeting&) = delete;
  RankMeeting& operator=(const RankMeeting&) = delete;

  // The skew of the rehearsal without its first quarter; nothing where it did not end in time.
  std::optional<double> rehearsed_skew_ns(double limit_s);

  // The next request of `ranks`, before it is sent to them; gives its number.
  std::int64_t begin(std::span<const int> ranks);
  // Ends the waits of the present request.
  void abort();
  // Of the present request, one per start that all ranks answered.
  std::vector<double> skews_ns();

 private:
  struct Rank {
    FileDescriptor socket;
    std::vector<char> read;
    bool takes_part = false, is_here = false, is_gone = false;
  };
  void serve();
  void begin_locked(std::span<const int> ranks);
  void read_messages(Rank& rank);
  void take(Rank& rank, const MeetingMessage& message);
  void release();
  void note_answer();
  void abort_locked();
  void send(Rank& rank, MeetingMessage::Kind kind, std::uint32_t meeting);

  std::mutex mutex_;
  std::vector<Rank> ranks_;
  std::uint32_t meeting_ = 0, start_ = 0;
  bool is_aborted_ = false, ends_ = false;
  double first_go_ns_ = 0, last_answer_ns_ = 0;
  std::vector<double> skews_ns_;
  FileDescriptor wake_;
  std::thread thread_;
};

// A rank's side.
class MeetingPlace : public StartBarrier {
 public:
  explicit MeetingPlace(FileDescriptor socket) : socket_(std::move(socket)) {}
  // From now on starts are those of this meeting.
  void enter(std::int64_t meeting);
  // False when another rank gave up or the parent is gone.
  bool rehearse();
  BarrierOutcome arrive_and_spin(int parties, std::chrono::nanoseconds timeout) override;
  void abort() override;

 private:
  bool send(MeetingMessage::Kind kind);
  BarrierOutcome wait(std::chrono::nanoseconds timeout);

  FileDescriptor socket_;
  std::uint32_t meeting_ = 0, start_ = 0;
  bool is_aborted_ = false;
};

}  // namespace halmark
