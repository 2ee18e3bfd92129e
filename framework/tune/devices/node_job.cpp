#include "tune/devices/node_job.hpp"

#include <cstdlib>

#include "core/text/error.hpp"
#include "measure/campaign/node_agreement.hpp"

namespace halmark::tune {
namespace {

// A device's name says how many nodes, the parts how many ranks each; nothing says which has more.
void require_equal(const std::vector<NodeRanks>& nodes) {
  const int each = nodes.front().ranks;
  for (const NodeRanks& node : nodes) {
    if (node.ranks == each) continue;
    throw refused("node " + node.host + " has " + std::to_string(node.ranks) + " ranks, " +
                      nodes.front().host + " " + std::to_string(each),
                  "--mpi-hosts", "give every node the same number");
  }
}

}  // namespace

std::optional<NodeJob> node_job(const AskedNodes& asked) {
  if (!asked.are_named()) return std::nullopt;
  const char* allocation = std::getenv("SLURM_JOB_NODELIST");
  NodeJob out{parse_mpi_hosts(asked.hosts, allocation ? allocation : ""), asked.listen};
  require_equal(out.nodes);
  return out;
}

std::optional<NodeJob> require_nodes(const AskedNodes& asked, const FoundPlugin& plugin) {
  std::optional<NodeJob> job = node_job(asked);
  if (!job) return std::nullopt;
  if (!plugin.description->has_comm) {
    throw unfit("plugin " + plugin.description->name + " has no collectives");
  }
  if (const auto why = why_nodes_do_not_fit(job->nodes, plugin.path)) throw unfit(*why);
  return job;
}

void spread_over(const AskedNodes& asked, Target& target) {
  const auto job = node_job(asked);
  if (!job) return;
  target.nodes = static_cast<int>(job->nodes.size());
  target.ranks_per_node = job->nodes.front().ranks;
}

}  // namespace halmark::tune
