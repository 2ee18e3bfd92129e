// One node of a fleet: claims units that its devices fit, measures them, and commits their rows in
// the transaction that finishes the unit.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/measured/worker_limits.hpp"
#include "fleet/nodes/node_facts.hpp"
#include "fleet/work_table.hpp"

namespace halmark::fleet {

struct AgentOptions {
  std::string url;
  std::string node;   // as people call the machine
  std::string spool;  // file for rows while the server is away
  double lease_s = fleet::lease_s;
  double idle_s = 0;          // without work, after which it leaves; 0 = never
  double sentinel_s = 600;    // of work, after which the node is looked at; 0 = never
  std::string sentinel_file;  // the history of those looks
  WorkerLimits worker_limits;
  std::stop_token stop;
  std::function<void(const std::string&)> say;  // lines for people
};

struct AgentEnd {
  std::int64_t measured = 0, failed = 0, lost = 0;
  bool is_interrupted = false;
};

// Until it is interrupted or has been idle for long enough. While the server is away the batch at
// hand is measured to its end and kept in the spool, and nothing new is claimed. The node's peaks
// judge the rows. Throws Error (exit 1) where the server was never reached, (exit 2) for a database
// that is none of results, and for a node that is turned away because its peaks are not those of
// its class.
AgentEnd run_agent(const NodeFacts& node, const AgentOptions& options);

}  // namespace halmark::fleet
