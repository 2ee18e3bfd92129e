// A simulated step beside the one that ranks executed, event by event.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/measured/execution.hpp"
#include "simulate/timeline/timeline.hpp"

namespace halmark::simulate {

// The k-th execution of an operator by a rank is the k-th event of that label on the rank's device,
// layers aside: both follow the order of the graph.
struct ExecutedEvent {
  std::uint32_t event = 0;  // of the timeline
  std::uint32_t rank = 0, execution = 0;
};

struct ExecutedStep {
  std::vector<ExecutedEvent> pairs;
  std::size_t only_simulated = 0, only_executed = 0;
  double executed_ns = 0;  // from the first begin to the last end
  // Over pairs: |begin simulated - begin executed|, the end likewise, in shares of the executed
  // step.
  double begin_median = 0, begin_p90 = 0, begin_worst = 0;
  std::uint32_t worst = 0;  // the pair that begin_worst is of
  // Of each rank: what its pairs took in all, and when the last of them ended.
  struct Rank {
    std::string device;
    std::size_t events = 0;
    double simulated_ns = 0, executed_ns = 0;
    double simulated_end_ns = 0, executed_end_ns = 0;
  };
  std::vector<Rank> ranks;
};

// Rank i is the i-th actor that executes kernels. Kernels alone are compared: what a collective
// takes is waiting for the slowest in part.
ExecutedStep beside_executed(const Timeline& timeline, std::span<const RankExecutions> executed);

// With an actor "... as executed" for every rank: one file shows both, one above the other.
Timeline with_executed(Timeline timeline, std::span<const RankExecutions> executed);

}  // namespace halmark::simulate
