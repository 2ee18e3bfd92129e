// StateInterval: where a run of a step should lie. The speed of the memory changes by half within
// minutes on shared machines, so an interval names the state that it holds for.
#pragma once

#include "core/numeric/statistics.hpp"

namespace halmark {

// Two states of the memory are the same within this share of one another.
inline constexpr double same_state = 0.1;
// How much of a move of the probe a step follows, of what waits for the memory: a probe reads one
// stream at full speed, kernels seldom do, and both are noisy. Of 6 runs on a shared machine whose
// memory moved by 7 to 50 % it was 0.37 (regression through zero).
inline constexpr double followed_share = 0.5;

struct StateInterval {
  double bytes_per_s = 0;  // the state: of all shards at once
  double step_ns = 0;      // said for that state
  double memory_ns = 0;    // the part of it that waits for the memory
  Interval ns;             // in that state, give or take `same_state`

  bool holds_at(double bytes_per_s) const;
  // Of a step that takes so many times as long.
  StateInterval times(double factor) const {
    return {bytes_per_s, step_ns * factor, memory_ns * factor, {ns.low * factor, ns.high * factor}};
  }
  // For another state: what waits for the memory takes longer by `followed_share` of what the
  // memory is slower by. The doubt about that, half of it, widens the interval.
  Interval at(double bytes_per_s) const;
};

}  // namespace halmark
