// The machine that a command plans for is one of the fleet's, not the one that it runs on.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "fleet/nodes/node_facts.hpp"
#include "plan/sweep.hpp"

namespace halmark::fleet {

struct PlanningQuestion {
  std::string url, wanted_class;  // class: its begin; "" = the one that is there
  const Sweep& sweep;
  bool waits = true;       // for the first agent that fits; else refused
  bool validates = false;  // which this machine does itself, as it does what nights compare
  // Plugins of this machine, asked where it measures something itself.
  std::function<std::vector<FoundPlugin>()> plugins_here;
  std::stop_token stop;
  std::function<void(const std::string&)> say;  // lines for people; may be empty
};

// Of the agent that stands for its class. Nothing when interrupted. Throws Error: exit 2 for a URL
// of no shared database, for agents of several classes, for a fleet without a fitting agent where
// it does not wait, for an agent that contradicts itself, and for work of this machine that is of
// another class or build; exit 1 where the server cannot be reached.
std::optional<NodeFacts> facts_to_plan_with(const PlanningQuestion& question);

}  // namespace halmark::fleet
