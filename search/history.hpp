// Every trial of a study as a sampler sees it: who was proposed, and what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "search/sampler.hpp"

namespace halmark {

struct Trial {
  Point point;
  TrialOutcome outcome = TrialOutcome::pending;
  std::vector<double> objectives;
  double violation = 0;  // sum of what is broken; 0 = feasible
};

class History {
 public:
  explicit History(const Space& space) : space_(space) {}

  const Space& space() const { return space_; }
  const std::vector<Trial>& trials() const { return trials_; }
  std::size_t size() const { return trials_.size(); }
  std::size_t finished() const { return finished_; }      // trials with an outcome
  std::size_t objectives() const { return objectives_; }  // 0 until the first complete trial
  bool is_exhausted() const { return trials_.size() >= space_.size(); }

  bool knows(const Point& valid_point) const {
    return numbers_.contains(space_.identity(valid_point));
  }
  // Valid and never proposed.
  bool is_new(const Point& point) const { return space_.contains(point) && !knows(point); }
  std::size_t add_pending(Point point);
  // Returns the number of the trial. Throws Error (exit 1), see Sampler::tell.
  std::size_t tell(const Told& told);

 private:
  void check(const Told& told) const;
  const Space& space_;
  std::vector<Trial> trials_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // by identity
  std::size_t objectives_ = 0, finished_ = 0;
};

}  // namespace halmark
