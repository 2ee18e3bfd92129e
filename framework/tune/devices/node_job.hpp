// The nodes of an MPI job that a command names, over which what is measured may lie.
#pragma once

#include <optional>

#include "host/nodes/node_group.hpp"
#include "host/plugin/discovery.hpp"
#include "tune/plan/asked_nodes.hpp"
#include "tune/plan/target.hpp"

namespace halmark::tune {

// Nothing without hosts. Throws Error (exit 2) for what parse_mpi_hosts does not take, for nodes
// with unequal numbers of ranks, and for an address without hosts.
std::optional<NodeJob> node_job(const AskedNodes& asked);

// node_job, when its nodes have been asked. Throws Error (exit 5) where they are not alike or the
// plugin has no collectives.
std::optional<NodeJob> require_nodes(const AskedNodes& asked, const FoundPlugin& plugin);

// Configurations of more ranks than a node has lie on several of these from now on.
void spread_over(const AskedNodes& asked, Target& target);

}  // namespace halmark::tune
