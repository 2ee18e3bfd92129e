// A benchmark of a served model as they are taken: all clients begin at once against an empty
// server, each sends its next request when one is answered, and figures are means over all
// requests.
#pragma once

#include <optional>

#include "simulate/serving/engine.hpp"
#include "simulate/serving/load.hpp"

namespace halmark::serving {

struct BenchmarkFigures {
  double ttft_ns = 0, tpot_ns = 0;
};

// `waves`: requests per client. The first wave meets in the queue; of the later ones, which are
// alike, only some are simulated and stand for all.
BenchmarkFigures simulate_benchmark(const EnginePlan& plan, const RequestShape& request,
                                    std::int64_t clients, double waves, StepClock& clock);

// All `engine.waves` requests of every client, each its own event, while the cache has room for
// all: the means that `halmark simulate serving` has of such a load. A closed loop of ServingFacts.
std::optional<ClosedLoopFigures> simulate_closed_loop(StepPricer& steps, StepPricer::Layout layout,
                                                      const RequestShape& request,
                                                      std::int64_t clients,
                                                      std::int64_t token_budget,
                                                      const ServingEngine& engine);

}  // namespace halmark::serving
