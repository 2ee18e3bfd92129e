// Which variants of which problems a user asks for, as the plugin offers them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/campaign/variants.hpp"

namespace halmark::tune {

struct VariantRequest {
  // "all", or kernels as "gemm_onednn" and "gemm_onednn:packed=0+threads=2"; the plugin's default
  // is always among them.
  std::vector<std::string> kernels;
  std::string plugin_path;
  const protocol::PluginDescription& plugin;
  WorkerLimits limits = {};
  bool is_searched = false;  // a sampler chooses, so that every combination may be listed
};

// Throws Error: exit 2 for a collective, for what is not of the form above and for a kernel that is
// not of these ops; exit 5 when the plugin supports none of the questions.
std::vector<VariantSet> asked_variants(std::span<const KernelCase> questions,
                                       const VariantRequest& request);

}  // namespace halmark::tune
