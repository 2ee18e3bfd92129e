#include "tune/devices/bench_beside.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/text/error.hpp"
#include "measure/campaign/node_agreement.hpp"
#include "tune/stored/baseline.hpp"

namespace halmark::tune {
namespace {

constexpr const char* option = "--mpi-hosts";

// The device's name says how many nodes, the parts how many ranks each; nothing says which has
// more.
int ranks_per_node(const std::vector<NodeRanks>& nodes) {
  const int each = nodes.front().ranks;
  for (const NodeRanks& node : nodes) {
    if (node.ranks == each) continue;
    throw refused("node " + node.host + " has " + std::to_string(node.ranks) + " ranks, " +
                      nodes.front().host + " " + std::to_string(each),
                  option, "give every node the same number");
  }
  return each;
}

void require_ranks(const KernelCase& c, int ranks) {
  if (!c.is_collective()) {
    throw refused("op " + c.problem.op + " is no collective: it has no use for other nodes",
                  option);
  }
  const auto asked = c.problem.params.value_or("ranks", 1);
  if (asked == ranks) return;
  throw refused(
      "the problem has " + std::to_string(asked) + " ranks, the nodes " + std::to_string(ranks),
      option, "give --params ranks=" + std::to_string(ranks));
}

}  // namespace

std::vector<KernelCase> baseline_beside(const BenchRequest& request,
                                        const std::vector<FoundPlugin>& found,
                                        std::vector<KernelCase>& cases,
                                        KernelMeasuring& measuring) {
  if (request.baseline.empty()) return {};
  const Baseline named = parse_baseline(request.baseline);
  const FoundPlugin& plugin = plugin_of(found, named.backend);
  check_kernel(*plugin.description, named.kernel);
  measuring.others = {{{named.backend, plugin.path}}, {{named.backend, plugin.hash}}};
  const std::vector<KernelCase> out = baseline_cases(cases, named);
  cases = joined(std::move(cases), out);
  return out;
}

void lay_over_nodes(const BenchRequest& request, const FoundPlugin& plugin,
                    std::vector<KernelCase>& cases, KernelMeasuring& measuring,
                    std::optional<RunPeaks>& peaks) {
  if (request.mpi_hosts.empty()) return;
  const char* allocation = std::getenv("SLURM_JOB_NODELIST");
  const auto nodes = parse_mpi_hosts(request.mpi_hosts, allocation ? allocation : "");
  const int each = ranks_per_node(nodes);
  for (const KernelCase& c : cases) require_ranks(c, ranks_of(nodes));
  if (!plugin.description->has_comm) {
    throw unfit("plugin " + plugin.description->name + " has no collectives");
  }
  if (const auto why = why_nodes_do_not_fit(nodes, plugin.path)) throw unfit(*why);
  for (KernelCase& c : cases) {
    c.device += '@' + std::to_string(nodes.size());
    c.parts = each;
  }
  measuring.job = NodeJob{nodes, request.mpi_listen};
  measuring.peaks = nullptr;
  peaks.reset();
}

}  // namespace halmark::tune
