// Sections of a fabric file as a FabricPlan.
#pragma once

#include <string>

#include "plan/toml/toml_table.hpp"
#include "simulate/fabric/fabric_plan.hpp"

namespace halmark::fabric {

// transport, latency_us, bandwidth_gbs, duplex, length_km, source. `ends`: how many of its ends are
// no switch. Throws Error (exit 2), implausible_latency among others.
StatedFigure read_figure(const TomlTable& table, std::string name, int ends);

// [node], [scale_up], [network] and [wan]; throws Error (exit 2).
FabricPlan read_plan(const TomlTable& root);

}  // namespace halmark::fabric
