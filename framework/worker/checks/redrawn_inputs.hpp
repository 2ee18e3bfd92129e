// Samples in front of which the host writes inputs that the kernel has never seen, among the others
// of a loop: an answer that was kept has to be computed inside the interval. They count as any
// other; what they cost more is told.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/timed_sample.hpp"
#include "worker/checks/overwritten_row.hpp"

namespace halmark::worker {

class RedrawnInputs {
 public:
  // One sample in so many, until there were as many as asked for.
  static constexpr std::uint64_t one_of = 4;

  RedrawnInputs(ArgumentRing& ring, ClockSource& clock, int wanted);

  bool wants_more() const { return static_cast<int>(samples_.size()) < wanted_; }
  bool is_pending() const { return !overwritten_.empty(); }
  // Writes what the next `repeat` executions from `first_set` on read. Nothing where the kernel has
  // no input that can be written anew, or too large a one. Throws RequestFailed.
  std::optional<protocol::OverwrittenRow> write(int first_set, std::int64_t repeat,
                                                std::uint64_t random);
  // Of the set that the sample executed last.
  const OverwriteRow& last() const { return overwritten_.back(); }
  int last_set() const { return (first_set_ + static_cast<int>((repeat_ - 1) % sets())) % sets(); }
  int first_set() const { return first_set_; }
  std::int64_t repeat() const { return repeat_; }
  // Behind the sample `number`, counted from 1.
  void restore(std::int64_t number);

  // Signal new_inputs_cost: an execution on inputs that were written in front of its sample over
  // one on those that were there, by the shortest samples of each kind; what colder caches may take
  // is not counted. The others are those next to one: as many, because the shortest of more is
  // shorter, and beside the same neighbours. And how long writing took, where the host does not see
  // the memory.
  void add_to(std::span<const TimedSample> series, std::vector<Signal>& signals) const;

 private:
  int sets() const { return ring_.sets(); }
  double allowed_ns(double plain_ns) const;

  ArgumentRing& ring_;
  ClockSource& clock_;
  int wanted_;
  std::vector<OverwriteRow> overwritten_;  // of the coming sample, by set
  std::vector<protocol::OverwrittenRow> drawn_;
  int first_set_ = 0;
  std::int64_t repeat_ = 1,
               new_executions_ = 1;  // of a sample, and those on unseen inputs among them
  std::uint64_t bytes_ = 0;          // written in front of one
  double write_ns_ = 0;              // of one operand, the shortest
  std::uint64_t write_bytes_ = 0;
  bool is_apart_ = false;              // in memory that the host does not see
  std::vector<std::int64_t> samples_;  // that were so
};

}  // namespace halmark::worker
