// A fabric as nodes and links to draw, and what a step loads them with.
#pragma once

#include "core/json/json_type.hpp"
#include "simulate/fabric/topology.hpp"
#include "simulate/schedule/step_simulation.hpp"

namespace halmark::pages {

// What a page can draw; of larger fabrics what the first devices reach, and what is left out.
inline constexpr std::size_t drawn_entities_max = 700;

// {"id", "name", "nodes": [[name, kind, node], ...], "links": [[from, to, figure, cables], ...],
// "figures": [...], "left_out", "notes"}: indices into `nodes` and `figures`.
Json fabric_drawing(const fabric::Topology& topology);

// {"links": [[from, to, utilisation, bytes], ...], "busiest", "assumed"}: entities of the drawing;
// of one direction of one cable, the fuller one, over the step, as `halmark simulate` has it. Links
// without bytes are left out. null without a topology, and where bytes of links are not known.
Json link_load_json(const fabric::Topology* topology, const schedule::StepSimulation& step);

}  // namespace halmark::pages
