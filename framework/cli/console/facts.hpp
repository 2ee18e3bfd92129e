// Facts that several commands look up: known devices, the measured device file, a deployment from
// the command line.
#pragma once

#include <optional>
#include <string>

#include "cli/console/option_set.hpp"
#include "cli/console/paths.hpp"
#include "core/configuration.hpp"
#include "core/device.hpp"

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
  std::int64_t routing_skew = 0;
  std::string expert_imbalance = "balanced";
  std::string dtype = "bf16";
};
void add_deployment_options(OptionSet& app, DeploymentOptions& options);
// Throws Error (exit 2) for an unknown phase or dtype and for sizes that are not positive.
Configuration deployment_from(const DeploymentOptions& options, const std::string& model);

// f32, bf16 and int8 as in sweep files; any other dtype name for all kernel kinds, fp8 and int4 for
// the linear layers with bf16 around them.
Precision precision_from(const std::string& text, bool has_bf16);

}  // namespace halmark::cli
