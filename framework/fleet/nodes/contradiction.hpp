// A node whose own figures say that it is not what it says: another machine's device file, a class
// that was edited, a device that lost most of its speed.
#pragma once

#include <span>
#include <string>

#include "fleet/nodes/node_facts.hpp"

namespace halmark::fleet {

// Of one class the best of many occasions lie within a few percent of each other; a noisy
// neighbour halves none of them.
inline constexpr double class_spread_max = 2;
// Above a datasheet's figure: what boost clocks beyond the sheet's own may add.
inline constexpr double datasheet_margin = 1.25;

struct Peer {
  std::string node;
  NodeFacts facts;
};

// Why the measured peaks of `own` cannot be those of its classes: one is above the ceiling of the
// device's datasheet, or far from the median of the peers that have the same ceiling. "" where
// nothing says so; without peers and datasheet nothing can.
std::string contradiction_of(const NodeFacts& own, std::span<const Peer> peers);

}  // namespace halmark::fleet
