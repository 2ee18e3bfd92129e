// Curves of systems that were measured, for one that was not: all that is known of it is its wire
// and how fast that is.
#pragma once

#include <optional>
#include <string_view>

#include "simulate/collectives/fit.hpp"

namespace halmark::simulate {

// The mean curve of the measured systems with the same wire, in which one with the same link counts
// nine-fold; the cost per byte goes by the link's rate. The interval is what one of three NVLink
// systems, predicted from the two others, needs. Nothing for a network, for broadcast and for
// send_recv: none was measured. Throws Error (exit 2) of a rate that is not above 0.
// `without`: the device id of a system to leave out, for judging the rest by it.
std::optional<CollectiveFit> fit_of_known_systems(Collective collective, Wire wire,
                                                  const FitLink& link,
                                                  std::string_view without = {});

}  // namespace halmark::simulate
