// Ranks of a collective on several nodes of one MPI job.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/nodes/meeting.hpp"
#include "host/nodes/node_list.hpp"
#include "host/worker_client.hpp"

namespace halmark {

// Where ranks run, and where they reach the parent.
struct NodeJob {
  std::vector<NodeRanks> nodes;
  std::string listen = "127.0.0.1";  // an address of this machine that all nodes reach
  bool operator==(const NodeJob&) const = default;
};

// The first nodes of a job, with as many ranks on each.
NodeJob part_of(const NodeJob& job, int nodes, int ranks_each);

// Those that so many ranks fill, node by node; nothing where one node has room for all.
std::optional<NodeJob> filled_nodes(const std::optional<NodeJob>& job, int ranks);

struct NodeGroup {
  std::vector<std::unique_ptr<Worker>> ranks;
  std::unique_ptr<RankMeeting> meeting;  // the common start of their samples
  double start_skew_ns = 0;              // of the rehearsal: what to expect of a start
};

// As start_group, with `ranks` on the nodes of the job in order; the cut of this machine's CPUs is
// taken for that of every node. No memory is shared: a rank has no arena, and what it reveals
// arrives as a copy. Throws Error for a listening address that is none.
Outcome<NodeGroup> start_node_group(std::span<const WorkerOptions> ranks, const NodeJob& job);

}  // namespace halmark
