// Latencies of the kernels of one graph, collectives where their ranks lie.
#pragma once

#include "latency/chain.hpp"
#include "model/pricing/composer.hpp"
#include "tune/plan/target.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {

// Adds what was measured and what the target's fabric, which it must have, says of collectives.
// `measured` must outlive the chain.
void add_fabric(const Target& target, LatencySource& measured, LatencyChain& chain);

// `chain` must outlive what is returned. A kernel that stands for collectives of two groups (the
// same op, bytes and ranks) is asked for the one whose ranks are farther apart.
Composer::Lookup placed(const LatencyChain& chain, const OperatorGraph& graph);

// latency_of by kernel. `chain` must outlive what is returned.
Composer::Lookup modelled_lookup(const LatencyChain& chain, const OperatorGraph& graph);

}  // namespace halmark::tune
