// The nodes that an MPI job is spread over, as a user names them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halmark {

struct NodeRanks {
  std::string host;  // name or IPv4 address that the MPI launcher reaches
  int ranks = 1;     // of the job, on this node
  bool operator==(const NodeRanks&) const = default;
};

// "n1:2,n2:2" (node:ranks), or "slurm:2" for two ranks on every node of the allocation that
// `slurm_nodes` lists as SLURM_JOB_NODELIST does ("n[1-3,7],gpu01"; "" = outside of one). Throws
// Error (exit 2) for anything else: a node named twice, fewer than two nodes, more than
// ranks_over_nodes_max ranks.
std::vector<NodeRanks> parse_mpi_hosts(std::string_view text, std::string_view slurm_nodes = {});

// Every rank reports in the launcher's log, of which 64 KiB are kept.
inline constexpr int ranks_over_nodes_max = 128;

int ranks_of(const std::vector<NodeRanks>& nodes);
// Ranks fill the nodes in their order. Throws std::out_of_range for a rank that is not of the job.
const std::string& node_of_rank(const std::vector<NodeRanks>& nodes, int rank);
// What mpirun has to be told: {"--host", "n1:2,n2:2", "--map-by", "slot"}.
std::vector<std::string> launcher_arguments(const std::vector<NodeRanks>& nodes);

}  // namespace halmark
