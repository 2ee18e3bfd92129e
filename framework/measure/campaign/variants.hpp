// Which ways a plugin has of running a problem: its kernels and the values of their parameters.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/winner.hpp"
#include "host/protocol.hpp"
#include "host/worker_client.hpp"

namespace halmark {

// What a person names: a kernel, and values of its parameters by number or label; those not named
// keep their defaults. Without values: every config of the kernel.
struct VariantFilter {
  std::string kernel;
  std::vector<std::pair<std::string, std::string>> values;
};

struct VariantOptions {
  std::string plugin_path;
  std::map<std::string, std::string> environment;
  std::string cache_dir;
  Config open_options;
  WorkerLimits limits;
  std::vector<VariantFilter> filters;  // empty = everything; the plugin's default is always there
  // Of one kernel. Where all combinations are more, one parameter at a time leaves its default.
  std::size_t combinations_max = 64;
};

struct VariantSet {
  KernelCase question;             // neither kernel nor config
  std::vector<Variant> variants;   // supported, in the plugin's order; empty = nothing supports it
  std::vector<std::string> notes;  // what is not measured, and why
};

// Asks the plugin in a worker per cut of the device. Cases must name neither kernel nor config, and
// no collectives. Throws Error: exit 2 for a filter that names what is not there, exit 5 when the
// worker is lost or the device is absent.
std::vector<VariantSet> find_variants(std::span<const KernelCase> questions,
                                      const VariantOptions& options);

// Every combination of the domains' values, or, beyond `combinations_max`, the default and each
// other value of one domain at a time. The all-default config is the empty one and comes first.
std::vector<Config> configs_of(std::span<const protocol::DomainDescription> domains,
                               std::size_t combinations_max);

}  // namespace halmark
