#include "measure/campaign/node_agreement.hpp"

#include <algorithm>
#include <cstdlib>

namespace halmark {
namespace {

constexpr double limit_s = 60;  // of the launcher to reach every node, by ssh or Slurm

std::string short_hash(const std::string& hash) {
  return hash.empty() ? "none" : hash.substr(0, 12);
}

std::string differs(const std::string& node, const std::string& what, const std::string& has,
                    const std::string& first_node, const std::string& first_has,
                    const std::string& remedy) {
  return "node " + node + " has another " + what + " than " + first_node + " (" + has + ", there " +
         first_has + "); " + remedy;
}

}  // namespace

std::optional<std::string> node_disagreement(const std::vector<NodeRanks>& nodes,
                                             std::span<const NodeReport> reports) {
  for (const NodeReport& r : reports) {
    const NodeReport& first = reports.front();
    const std::string& node = node_of_rank(nodes, r.rank);
    const std::string& first_node = node_of_rank(nodes, first.rank);
    if (r.plugin_hash.empty()) {
      return "node " + node + " has no such plugin; install the same build at the same path";
    }
    if (r.worker_hash != first.worker_hash) {
      return differs(node, "build of halmark-worker", short_hash(r.worker_hash), first_node,
                     short_hash(first.worker_hash), "install the same build on all nodes");
    }
    if (r.plugin_hash != first.plugin_hash) {
      return differs(node, "build of the plugin", short_hash(r.plugin_hash), first_node,
                     short_hash(first.plugin_hash), "install the same build on all nodes");
    }
    if (r.hardware_class != first.hardware_class) {
      return differs(node, "class of hardware", r.processor + " " + r.hardware_class, first_node,
                     first.processor + " " + first.hardware_class,
                     "name nodes of one class, with the same CPUs to use");
    }
  }
  return std::nullopt;
}

std::optional<std::string> why_nodes_do_not_fit(const std::vector<NodeRanks>& nodes,
                                                const std::string& plugin_path) {
  const auto reports = ask_nodes(nodes, plugin_path, limit_s);
  return reports ? node_disagreement(nodes, *reports) : reports.failure;
}

std::vector<Check> node_checks(std::string_view hosts, std::span<const FoundPlugin> plugins) {
  if (hosts.empty()) return {};
  const char* allocation = std::getenv("SLURM_JOB_NODELIST");
  const std::vector<NodeRanks> nodes = parse_mpi_hosts(hosts, allocation ? allocation : "");
  const auto plugin = std::ranges::find_if(
      plugins, [](const FoundPlugin& p) { return p.is_loaded() && p.description->has_comm; });
  if (plugin == plugins.end()) {
    return {{"nodes", "missing", "no plugin here has collectives; the cpu plugin needs MPI"}};
  }
  const auto reports = ask_nodes(nodes, plugin->path, limit_s);
  if (!reports) return {{"nodes", "refused", reports.failure}};
  if (const auto why = node_disagreement(nodes, *reports)) return {{"nodes", "refused", *why}};
  std::vector<Check> out;
  std::size_t rank = 0;
  for (const NodeRanks& node : nodes) {
    const NodeReport& report = (*reports)[rank];
    rank += static_cast<std::size_t>(node.ranks);
    out.push_back({"node " + node.host, "ok",
                   std::to_string(node.ranks) + (node.ranks == 1 ? " rank" : " ranks") + " on " +
                       report.host + ", " + report.processor + ", " + report.hardware_class +
                       ", plugin " + short_hash(report.plugin_hash)});
  }
  return out;
}

}  // namespace halmark
