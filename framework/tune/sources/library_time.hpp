// What a library of collectives needs over the levels of a fabric: closed forms that start and step
// as NCCL's tuning model has it, by the algorithms that such a library has.
#pragma once

#include <span>
#include <string>

#include "core/numeric/statistics.hpp"
#include "simulate/collectives/cost.hpp"
#include "simulate/fabric/transport.hpp"

namespace halmark::tune {

// Measured times over these: 96 % of the points of three NVLink systems lie in the first (A100,
// H100, B200, four collectives, 2 to 8 ranks; ai-dynamo/aiconfigurator@095f58a5), those from 1 MiB
// on of the one network that is known in the second (32 B200 over EFA;
// stas00/ml-engineering@744d01e1).
inline constexpr Interval node_spread{0.5, 2.5};
inline constexpr Interval network_spread{0.5, 6};

struct LibraryTime {
  double s = 0;
  Interval interval_s{0, 0};
  std::string way;  // "ring LL128, closed form"
};

// The fastest of rings, trees and direct exchange in each protocol. A step takes the latency of its
// level, and no less than the protocol needs on such a wire. Where no wire is one of NCCL's (memory
// of a host, ICI, Unified Bus) every algorithm counts, at the bare cost of the levels.
// `transports`: one for each of `levels`, which have more than one rank together.
LibraryTime library_time(simulate::Collective collective, double bytes,
                         const simulate::FabricLevels& levels,
                         std::span<const fabric::Transport> transports);

simulate::Wire wire_of(fabric::Transport transport);

}  // namespace halmark::tune
