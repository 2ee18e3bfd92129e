// A fabric as nodes and links to draw, and what a step loads them with.
#pragma once

#include "core/json/json_type.hpp"
#include "pages/serve/composed_step.hpp"
#include "simulate/fabric/routes.hpp"

namespace halmark::pages {

// What a page can draw; of larger fabrics what the first devices reach, and what is left out.
inline constexpr std::size_t drawn_entities_max = 700;

// {"id", "name", "nodes": [[name, kind, node], ...], "links": [[from, to, figure, cables], ...],
// "figures": [...], "left_out", "notes"}: indices into `nodes` and `figures`.
Json fabric_drawing(const fabric::Topology& topology);

// {"links": [[from, to, utilisation, bytes], ...], "busiest", "assumed"}: entities of the drawing;
// bytes of one direction, the fuller one, over the step. Messages as of rings and pairs: a step of
// an all-reduce goes to the next rank of its group, an all-to-all to every other one, by the
// shortest way that a hash of the flow chooses. Links without bytes are left out.
Json link_load_json(const fabric::Topology& topology, const fabric::Router& router,
                    const ComposedStep& step);

}  // namespace halmark::pages
