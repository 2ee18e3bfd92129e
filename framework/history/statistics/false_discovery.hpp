// Many tests at once: how many of those that are called positive are so by chance.
#pragma once

#include <span>
#include <vector>

namespace halmark::history {

// q-values of Benjamini and Hochberg (1995), in the order given: those at or below q are the
// discoveries of which at most the share q is false in expectation, for independent or positively
// dependent tests. p-values lie in [0, 1]; none gives none.
std::vector<double> false_discovery_q(std::span<const double> p_values);

}  // namespace halmark::history
