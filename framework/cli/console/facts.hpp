// Facts that several commands look up: known devices, the measured device file, a deployment from
// the command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console/option_set.hpp"
#include "cli/console/paths.hpp"
#include "core/chosen/configuration.hpp"
#include "core/device.hpp"
#include "model/spec/model_spec.hpp"
#include "plan/precision.hpp"

namespace halmark::cli {

// A device of configs/devices by id or alias, or the path of a device file (*.toml). Throws Error
// (exit 2) with the nearest names.
Device known_device(const std::string& id);

// The file that `halmark peaks` wrote for this machine; nothing when there is none.
std::optional<Device> measured_device(const std::string& fingerprint);

struct DeploymentOptions {
  std::string phase = "decode";
  std::int64_t batch = 1, new_tokens = 0, context = 0;
  int tp = 1, pp = 1, dp = 1, ep = 1;
  std::vector<int> stages;
  std::int64_t routing_skew = 0;
  std::string expert_imbalance = "balanced";
  std::string dtype = "checkpoint";
  std::string precision;  // kind=dtype,...
};
void add_deployment_options(OptionSet& app, DeploymentOptions& options);
// Throws Error (exit 2) for an unknown phase, recipe, kind or dtype.
Configuration deployment_from(const DeploymentOptions& options, const ModelSpec& spec,
                              bool has_bf16);

}  // namespace halmark::cli
