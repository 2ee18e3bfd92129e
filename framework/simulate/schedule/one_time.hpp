// What happens once before the first step: as the user states it, or as bytes over a rate.
#pragma once

#include <string>
#include <vector>

#include "model/step/priced_step.hpp"
#include "simulate/fabric/topology.hpp"
#include "simulate/timeline/timeline_of.hpp"

namespace halmark::schedule {

// `stated`: "boot=2", in seconds; of boot, discover, probe, compile, plan and place. Where place is
// not stated: the weights of the devices of one node over the read rate of the topology's slowest
// tier outside of its devices; nothing where it has none. Phases that nobody states are left out.
// Throws Error (exit 2) of an unknown phase and of what is no time.
std::vector<simulate::OneTimePhase> one_time_phases(const PricedStep& step,
                                                    const fabric::Topology& topology,
                                                    const std::vector<std::string>& stated);

}  // namespace halmark::schedule
