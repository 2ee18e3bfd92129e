// A deployment as a platform of Kubernetes describes one: NVIDIA Dynamo's resource, or the values
// of llm-d's Helm chart. The platform itself chooses nodes. Its keys are held against what it
// publishes by tests/unit/export/test_platforms.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/chosen/deployment.hpp"
#include "core/json/json_type.hpp"
#include "export/cluster/manifests.hpp"
#include "export/engine/launch.hpp"
#include "export/text_file.hpp"

namespace halmark::exports {

const std::vector<std::string>& platform_names();  // as --as names them: "dynamo", "llm-d"

// A DynamoGraphDeployment (nvidia.com/v1alpha1): a frontend, and a worker for each server.
// Throws Error (exit 2) for an engine that Dynamo does not start, devices that are not NVIDIA's, no
// image, and what one worker would have to do that the resource does not say.
Json graph_deployment(const Deployment& deployment, const Launch& launch,
                      const ClusterOptions& options);
// Values of the chart llm-d-modelservice: decode workers that read prompts, too. Throws likewise.
Json model_service_values(const Deployment& deployment, const Launch& launch,
                          const ClusterOptions& options);

// "dynamo.yaml" or "values.yaml", with the reason of each flag above.
TextFile platform_file(const std::string& as, const Deployment& deployment, const Launch& launch,
                       const ClusterOptions& options);

}  // namespace halmark::exports
