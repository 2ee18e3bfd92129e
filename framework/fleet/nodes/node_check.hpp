// `halmark agent --check`: what a node would offer and whether it would be of use, for people and
// for the prologue of a scheduler.
#pragma once

#include <string>

#include "core/text/error.hpp"
#include "fleet/nodes/node_facts.hpp"
#include "report/views/view.hpp"

namespace halmark::fleet {

struct NodeCheck {
  report::View view;
  // ok: it would measure what waits, or nothing waits; partial: units wait, and none of them is for
  // it; refused: it would be turned away; unfit: it has no device.
  ExitCode exit_code = ExitCode::ok;
};

// Takes nothing, makes no table and enters nobody. Throws Error: exit 2 for a URL of no shared
// database, exit 1 where the server cannot be reached.
NodeCheck check_node(const NodeFacts& node, const std::string& url, const std::string& name);

}  // namespace halmark::fleet
