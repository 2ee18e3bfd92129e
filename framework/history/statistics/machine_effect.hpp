// How far a series follows the machine's memory, and its rows as they would be at one speed of it.
// Bandwidth comes in regimes that last minutes to hours and that no build causes.
#pragma once

#include <span>
#include <vector>

#include "history/series.hpp"

namespace halmark::history {

struct MachineEffect {
  // d ln(time) / d ln(bandwidth), negated: 0 = follows nothing, 1 = waits for the memory alone.
  double memory_share = 0;
  int moves = 0;  // pairs of neighbouring rows in different regimes that it rests on
};

// Least absolute deviations of differences between neighbouring rows in different regimes (more
// than a tenth apart): a step of the code is in one of them, a regime in all. Within [0, 1.2];
// `moves` below 5 says nothing and gives 0. Rows in time order; those without a probe are passed
// over.
MachineEffect machine_effect(std::span<const SeriesRow> rows);

// ln of each row's bandwidth, the noise of single probes taken out: the centre of its regime, found
// by taking the median of all rows within a tenth, and again from there. Nothing for rows that are
// not usable or have no probe.
std::vector<std::optional<double>> regimes_of(std::span<const SeriesRow> rows);

}  // namespace halmark::history
