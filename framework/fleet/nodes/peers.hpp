// Other agents of the classes of a node, for what they say of it.
#pragma once

#include <string>
#include <vector>

#include "fleet/nodes/contradiction.hpp"

namespace halmark::postgresql {
class Session;
}

namespace halmark::fleet {

// Of this version, heard within a day and not turned away; the latest of each node, 16 at most.
// Those of `node` itself are left out: they read the same files.
std::vector<Peer> peers_of(postgresql::Session& session, const NodeFacts& own,
                           const std::string& node);

}  // namespace halmark::fleet
