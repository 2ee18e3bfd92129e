// What one proposal may cost. A unit of work is a point that is drawn, checked or scored: budgets
// count units, so that a proposal stays a function of (seed, trial, what was told). The clock is
// for emergencies alone: which sampler answered is stored with the trial.
#pragma once

#include <cstdint>
#include <functional>

namespace halmark {

// Left to the proposer that asked for the work: it answers with a uniform draw instead.
struct OutOfWork {};
// The caller of ask wants an end, see Sampler::heed.
struct SearchStopped {};

class Effort {
 public:
  // Ten times what the most expensive proposal on the problems of tests/problems takes.
  static constexpr std::uint64_t units_max = 1u << 16;
  // Of this thread's own processor time: a process that is stopped or waits does not use it up.
  static constexpr double emergency_s = 1;

  // May be empty.
  void heed(std::function<bool()> should_stop) { should_stop_ = std::move(should_stop); }
  bool is_stopped() const { return should_stop_ && should_stop_(); }

  // A proposal begins. What a sampler catches up with (models of rows that it was told of) comes
  // before: that is bounded by the rows.
  void begin();
  // Throws OutOfWork or SearchStopped.
  void spend(std::uint64_t units = 1);
  // Throws SearchStopped; costs nothing.
  void look() const;
  std::uint64_t left() const { return left_; }
  // All units of all proposals.
  std::uint64_t spent() const { return spent_; }

 private:
  std::function<bool()> should_stop_;
  std::uint64_t left_ = units_max, spent_ = 0, next_look_ = 0;
  double began_s_ = 0;
};

}  // namespace halmark
