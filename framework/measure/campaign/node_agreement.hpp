// Whether the nodes of one MPI job are the same build on the same hardware: a collective over
// unequal ones is the time of the slowest, and no figure of either.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/nodes/node_report.hpp"
#include "host/plugin/plugin_checks.hpp"

namespace halmark {

// Nothing when all reports agree with the first; else one line that names the node, what differs
// from which, and what to do. `reports`: one per rank of `nodes`, in order.
std::optional<std::string> node_disagreement(const std::vector<NodeRanks>& nodes,
                                             std::span<const NodeReport> reports);

// The same, after asking every rank of `nodes`; also why they did not all answer.
std::optional<std::string> why_nodes_do_not_fit(const std::vector<NodeRanks>& nodes,
                                                const std::string& plugin_path);

// What halmark doctor --mpi-hosts says: one check per node, or the one that refuses the job. The
// plugin is the first of `plugins` with collectives. Empty for no `hosts`; throws Error (exit 2)
// as parse_mpi_hosts does.
std::vector<Check> node_checks(std::string_view hosts, std::span<const FoundPlugin> plugins);

}  // namespace halmark
