#include "worker/staging/kernel_choice.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

// Categorical values travel by label, because integers differ between library versions.
Config resolve_labels(DeviceContext& context, std::uint32_t kernel, const Problem& problem,
                      Config config) {
  if (config.labels.empty()) return config;
  const auto domains = take(context.device.domains(kernel, problem), "create");
  for (const auto& [name, label] : config.labels) {
    auto* domain = find_or_null(domains, name, &protocol::DomainDescription::name);
    if (!domain) {
      throw RequestFailed(HM_UNSUPPORTED, "create", "the kernel has no parameter " + name);
    }
    const auto at = std::ranges::find(domain->labels, label);
    if (at == domain->labels.end()) {
      throw RequestFailed(
          HM_UNSUPPORTED, "create",
          name + " has no value '" + label + "'; " + suggestion(label, domain->labels));
    }
    config.params.set(name, domain->values[as_size(at - domain->labels.begin())]);
  }
  return config;
}

}  // namespace

std::uint32_t kernel_index(const DeviceContext& context, const std::string& name) {
  const auto found = std::ranges::find(context.kernels, name, &protocol::KernelDescription::name);
  if (found != context.kernels.end()) {
    return as_uint32(found - context.kernels.begin());
  }
  auto known = mapped(context.kernels, [&](const auto& kernel) { return kernel.name; });
  throw RequestFailed(HM_INVALID_ARGUMENT, "create",
                      "no kernel '" + name + "'; " + suggestion(name, known));
}

KernelChoice choose_kernel(DeviceContext& context, const std::string& name, const Problem& problem,
                           const Config& config) {
  std::string reason = "no kernel implements " + problem.op;
  for (std::uint32_t i = 0; i < context.kernels.size(); ++i) {
    const protocol::KernelDescription& kernel = context.kernels[i];
    if (kernel.op != problem.op || (!name.empty() && kernel.name != name)) continue;
    if (kernel.collective && !context.communicator) {
      reason = kernel.name + " is a collective: it needs a group of workers";
      continue;
    }
    Config resolved = resolve_labels(context, i, problem, config);
    const PluginError error = context.device.supports(i, problem, &resolved);
    if (error.ok()) {
      return {i, kernel.name, std::move(resolved),
              kernel.collective ? context.communicator : nullptr};
    }
    if (error.status != HM_UNSUPPORTED) check(error, "create");
    reason = kernel.name + ": " + error.message;
  }
  if (!name.empty()) kernel_index(context, name);  // an unknown name is the host's fault
  throw RequestFailed(HM_UNSUPPORTED, "create", reason);
}

}  // namespace halmark::worker
