// StateInterval: where a run of a step should lie. On shared machines the speed of the memory
// changes by half within minutes and that of the cores by a third, so an interval names the state
// that it holds for.
#pragma once

#include <optional>

#include "core/fields/fields.hpp"
#include "core/numeric/statistics.hpp"

namespace halmark {

// Two speeds are the same state within this share of one another.
inline constexpr double same_state = 0.1;
// How much of a move of the probe a step follows, of what waits for the memory: a probe reads one
// stream at full speed, kernels seldom do, and both are noisy. Of 6 runs on a shared machine whose
// memory moved by 7 to 50 % it was 0.37 (regression through zero).
inline constexpr double followed_share = 0.5;

// What other guests leave of a machine at one time.
struct MachineState {
  double bytes_per_s = 0;             // of its memory, for all shards at once
  std::optional<double> flops_per_s;  // short probes of one core, in the type of most of the FLOPs
};

// Of two probes of the cores: to / from. Nothing where one is absent or they are more than a factor
// of two apart, which probes of different types are and states of one machine seldom.
std::optional<double> core_speed_ratio(std::optional<double> from, std::optional<double> to);

struct StateInterval {
  MachineState state;
  double step_ns = 0;     // said for that state
  double memory_ns = 0;   // the part of it that waits for the memory
  double compute_ns = 0;  // the part that waits for the cores
  Interval ns;            // in that state, give or take `same_state`

  bool holds_at(const MachineState& there) const;
  // Of a step that takes so many times as long.
  StateInterval times(double factor) const {
    return {state,
            step_ns * factor,
            memory_ns * factor,
            compute_ns * factor,
            {ns.low * factor, ns.high * factor}};
  }
  // For another state: what waits for the memory or for the cores takes longer by `followed_share`
  // of what they are slower by. The doubt about that, half of it, widens the interval.
  Interval at(const MachineState& there) const;
};
template <class V, Of<StateInterval> M>
void fields(V& v, M& m) {
  v("bytes_per_s", m.state.bytes_per_s);
  v("step_ns", m.step_ns);
  v("memory_ns", m.memory_ns);
  v("ns", m.ns);
  v.unless_default("flops_per_s", m.state.flops_per_s);
  if (m.state.flops_per_s) v("compute_ns", m.compute_ns);
}

}  // namespace halmark
