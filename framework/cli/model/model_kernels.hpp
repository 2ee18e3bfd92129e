// Options of `halmark model` that put measured layers and kernels beside the graph.
#pragma once

#include <string>

#include "cli/console/option_set.hpp"

namespace halmark::cli {

struct KernelOptions {
  std::string per_layer_ms;            // MS or TYPE=MS,...
  std::string kernel_ms, kernel_flow;  // FILE, @FILE or JSON
};
void add_kernel_options(OptionSet& app, KernelOptions& options);

}  // namespace halmark::cli
