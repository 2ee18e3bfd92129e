// A deployment as Kubernetes manifests: servers on the nodes that they were placed on.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/chosen/deployment.hpp"
#include "core/json/json_type.hpp"
#include "export/cluster/placement.hpp"
#include "export/engine/launch.hpp"
#include "export/text_file.hpp"

namespace halmark::exports {

struct ClusterOptions {
  std::string image;  // "" = the one that the engine's project publishes for the release
};

// A label of Kubernetes: lower-case letters, digits and '-'.
std::string label_of(const std::string& text, std::size_t length_max = 40);
std::string image_of(const Launch& launch, const ClusterOptions& options);
// What nodes call the device; `where`: the option that asks. Throws Error (exit 2) for one that is
// not known.
std::string resource_of(const Deployment& deployment, const char* where);

// Throws Error (exit 2) where the servers do not fit on the nodes, with what is missing, and for a
// device whose resource name is not known.
Placement placement_of(const Launch& launch, std::span<const ClusterNode> nodes);

std::vector<Json> manifests(const Deployment& deployment, const Launch& launch,
                            std::span<const ClusterNode> nodes, const Placement& placement,
                            const ClusterOptions& options);
// "manifests.yaml": all of them behind comments that say where each server is.
TextFile manifest_file(const Deployment& deployment, const Launch& launch,
                       std::span<const ClusterNode> nodes, const ClusterOptions& options);

}  // namespace halmark::exports
