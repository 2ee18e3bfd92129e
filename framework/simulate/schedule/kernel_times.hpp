// What one execution of each kernel takes in one run of a simulation.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/latency.hpp"
#include "simulate/schedule/program/stage_program.hpp"

namespace halmark::schedule {

// Where times come from: of an operator of the graph, by its index, and of a collective that none
// of them is, of ranks that are `stride` devices apart. Nothing: not known.
struct TimeSources {
  std::function<std::optional<Latency>(std::size_t op)> of_operator;
  std::function<std::optional<Latency>(const Problem&, const Work&, std::int64_t stride)>
      of_collective;
};

// Run 0 takes what the sources say. In every other run each device draws the time of each kernel
// once, as a process has its own placement and clocks: with even odds from [low, ns] or from [ns,
// high], evenly within. The median of many runs' draws is ns; the same seed gives the same.
class KernelTimes {
 public:
  // Throws Error (exit 2) naming the first operator of the programs without a time.
  KernelTimes(const PricedStep& step, const Programs& programs, const TimeSources& sources);

  // Of parts [part, part + parts) of the programs together. `device`: who draws, of a collective
  // the first of its ranks.
  double ns(const Piece& piece, std::int64_t device) const {
    return run_ == 0 ? stated_ns(piece) : drawn_ns(piece, device);
  }
  void begin_run(std::uint64_t seed, std::uint64_t run) {
    seed_ = seed;
    run_ = run;
  }
  bool has_intervals() const { return has_intervals_; }
  // The weakest that a time comes from.
  Provenance provenance() const { return provenance_; }
  const Latency& of(std::int32_t op) const { return latencies_[static_cast<std::size_t>(op)]; }

 private:
  double stated_ns(const Piece& piece) const;
  double drawn_ns(const Piece& piece, std::int64_t device) const;

  const Programs& programs_;
  std::vector<Latency> latencies_;  // operators of the graph, then Programs::extra
  std::uint64_t seed_ = 1, run_ = 0;
  bool has_intervals_ = false;
  Provenance provenance_ = Provenance::measured;
};

}  // namespace halmark::schedule
