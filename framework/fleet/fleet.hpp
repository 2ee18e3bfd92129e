// What commands ask of a fleet. Without the client library of PostgreSQL each throws Error (exit 5)
// that says so.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fleet/launch/launch.hpp"
#include "fleet/nodes/node_facts.hpp"
#include "journal/store.hpp"
#include "report/views/view.hpp"
#include "tune/evaluate/kernel_measurer.hpp"

namespace halmark::fleet {

struct AgentOptions;

// Throws Error (exit 2) for what names no database that machines can share, before anything is
// done.
void require_shared(const std::string& url);

// Measures on the agents of the store's database, which must be a shared one: throws Error (exit 2)
// otherwise. `plugins`: hashes of the builds that the plan is of. Refers to the store.
std::unique_ptr<tune::KernelMeasurer> measurer(Store& store, const std::string& fingerprint,
                                               const std::map<std::string, std::string>& plugins,
                                               std::function<void(const std::string&)> say);

// As people call this machine: `named`, HALMARK_NODE, or the host's name.
std::string node_name(const std::string& named);
// Until it is interrupted or idle for long enough: what it has done, {"measured", "failed",
// "lost"}.
report::View serve_node(const NodeFacts& node, AgentOptions options);

report::View view_of(const std::string& url);

// One of the three launchers, or what it would be given.
struct LaunchOrder : LaunchRequest {
  int slurm = 0, kubernetes = 0;  // nodes
  bool prints = false;
};
struct Launched {
  report::View view;  // {"started": [...]} or {"text": ...}
  bool are_all_started = true;
};
// `program_here`: what nodes run where the order names no program. Throws Error: exit 2 for an
// order of none or several of the launchers, and as they do.
Launched launch(LaunchOrder order, const std::string& program_here);

}  // namespace halmark::fleet
