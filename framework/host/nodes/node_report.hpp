// What every rank of a job over several nodes says of its node before anything is measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "host/nodes/node_list.hpp"

namespace halmark {

struct NodeReport {
  int rank = 0;
  std::string host;            // as the node calls itself
  std::string worker_hash;     // SHA-256 of the worker's program
  std::string plugin_hash;     // of the plugin's file; "" = not readable there
  std::string hardware_class;  // of what a process may use there (Machine::hardware_class)
  std::string processor;
  bool operator==(const NodeReport&) const = default;
};

// Of this process. `rank`: by the MPI launcher.
NodeReport this_node_report(int rank, const std::string& plugin_path);

// One line without its end, and back; nothing for a line that is no report.
std::string report_line(const NodeReport& report);
std::optional<NodeReport> parse_report(std::string_view line);

// Starts one worker per rank under mpirun, on the nodes, and takes what they say, in order of
// ranks. All of them are ended when this returns. The failure is one line that says why they did
// not all answer within `limit_s`.
Result<std::vector<NodeReport>, std::string> ask_nodes(const std::vector<NodeRanks>& nodes,
                                                       const std::string& plugin_path,
                                                       double limit_s);

}  // namespace halmark
