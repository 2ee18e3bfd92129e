#include "host/nodes/node_group.hpp"

#include "host/group.hpp"
#include "host/nodes/group_starter.hpp"
#include "host/nodes/rank_listener.hpp"

namespace halmark {
namespace {

constexpr double rehearsal_limit_s = 30;

Outcome<NodeGroup> start(std::span<const WorkerOptions> ranks, const NodeJob& job,
                         RankListener& listener, const std::string& mpirun) {
  GroupStarter starter(ranks, listener);
  Environment named = ranks.front().environment;
  named[group_token_variable] = listener.token();
  if (auto failure = starter.connect(
          group_process_over(job.nodes, mpirun, starter.command(), starter.cpus(), named))) {
    failure->reason += "; ranks come to " + listener.address() + " port " +
                       std::to_string(listener.port()) +
                       ": --mpi-listen names an address that all nodes reach";
    return *failure;
  }
  NodeGroup group;
  group.meeting = std::make_unique<RankMeeting>(listener.take_meetings());
  if (auto failure = starter.greet()) return *failure;
  const auto skew_ns = group.meeting->rehearsed_skew_ns(rehearsal_limit_s);
  if (!skew_ns) {
    return starter.failed(Status::timed_out, "the ranks do not meet over the network within " +
                                                 std::to_string(int(rehearsal_limit_s)) + " s");
  }
  group.start_skew_ns = *skew_ns;
  group.ranks = starter.take();
  return group;
}

}  // namespace

NodeJob part_of(const NodeJob& job, int nodes, int ranks_each) {
  NodeJob out{{job.nodes.begin(), job.nodes.begin() + nodes}, job.listen};
  for (NodeRanks& node : out.nodes) node.ranks = ranks_each;
  return out;
}

std::optional<NodeJob> filled_nodes(const std::optional<NodeJob>& job, int ranks) {
  if (!job) return std::nullopt;
  const int each = job->nodes.front().ranks;
  if (ranks <= each) return std::nullopt;
  return part_of(*job, ranks / each, each);
}

Outcome<NodeGroup> start_node_group(std::span<const WorkerOptions> ranks, const NodeJob& job) {
  RankListener listener(job.listen, static_cast<int>(ranks.size()));
  return GroupStarter::under_launcher(
      [&](const std::string& mpirun) { return start(ranks, job, listener, mpirun); });
}

}  // namespace halmark
