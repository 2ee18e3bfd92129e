// The nodes of a cluster, as a person lists them:
//
//   [[node]]
//   names = ["gpu-1", "gpu-2"]    kubernetes.io/hostname
//   devices = 8
//   domains = [4, 4]              where not all devices reach each other alike
#pragma once

#include <string>
#include <vector>

#include "core/chosen/deployment.hpp"

namespace halmark {

// Throws Error (exit 2) with file:line:column: no node, one that is named twice, or domains that
// are not all devices.
std::vector<ClusterNode> read_nodes(const std::string& path);
std::vector<ClusterNode> parse_nodes(std::string_view text, std::string_view where);

}  // namespace halmark
