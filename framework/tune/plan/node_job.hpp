// The nodes of an MPI job that a command names, over which what is measured may lie.
#pragma once

#include <optional>
#include <string>

#include "host/nodes/node_group.hpp"
#include "host/plugin/discovery.hpp"
#include "tune/plan/target.hpp"

namespace halmark::tune {

// --mpi-hosts and --mpi-listen.
struct AskedNodes {
  std::string hosts;  // as parse_mpi_hosts reads it; "" = this machine alone
  std::string listen = "127.0.0.1";
};

// Of the command that makes the rows again.
std::string words_of(const AskedNodes& asked);

// Nothing without hosts. Throws Error (exit 2) for nodes with unequal numbers of ranks, and for an
// address without hosts.
std::optional<NodeJob> node_job(const AskedNodes& asked);

// Asks the nodes. Throws Error (exit 5) where they are not alike or the plugin has no collectives.
void require_nodes(const NodeJob& job, const FoundPlugin& plugin);

// Configurations of more ranks than a node has lie on several of these from now on.
void spread_over(const AskedNodes& asked, Target& target);

}  // namespace halmark::tune
