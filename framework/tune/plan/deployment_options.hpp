// A deployment in the words of a command line: the same words mean the same configuration in all
// commands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "model/spec/model_spec.hpp"
#include "plan/precision.hpp"

namespace halmark::tune {

struct DeploymentOptions {
  std::string phase;  // "" = decode, or prefill of models that write no tokens
  std::int64_t batch = 1, new_tokens = 0, context = 0;
  int tp = 1, pp = 1, dp = 1, ep = 1;
  std::vector<int> stages;
  std::int64_t routing_skew = 0;
  std::string expert_imbalance = "balanced";
  std::string dtype = "checkpoint";
  std::string precision;  // kind=dtype,...
};
// Throws Error (exit 2) for an unknown phase, recipe, kind or dtype.
Configuration deployment_from(const DeploymentOptions& options, const ModelSpec& spec,
                              const PrecisionFacts& facts);
Configuration deployment_from(const DeploymentOptions& options, const ModelSpec& spec,
                              bool has_bf16);

}  // namespace halmark::tune
