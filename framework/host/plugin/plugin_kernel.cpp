// Prepared kernels and the tunable parameters of a kernel: everything foreign is checked here.
#include <algorithm>
#include <set>

#include "core/lists.hpp"
#include "host/plugin/plugin.hpp"
#include "host/plugin/plugin_call.hpp"

namespace halmark {
using namespace plugin_call;
namespace {

constexpr std::uint32_t domains_max = 64;
constexpr std::size_t domain_values_max = 4096;
constexpr std::size_t label_bytes_max = 256;
constexpr std::uint32_t operands_max = 64;

using protocol::DomainDescription;

PluginError bad_domain(const DomainDescription& domain, const std::string& what) {
  return broken("domain '" + domain.name + "' " + what);
}

PluginError too_many(const DomainDescription& domain, const std::string& count) {
  return bad_domain(domain,
                    "has " + count + " values; the limit is " + std::to_string(domain_values_max));
}

PluginError expand_range(const hm_domain& raw, DomainDescription& domain) {
  if (raw.count != 3) return bad_domain(domain, "is a range without {low, high, step}");
  const std::int64_t low = raw.values[0], high = raw.values[1], step = raw.values[2];
  if (step <= 0 || low > high) return bad_domain(domain, "is an empty range");
  const auto span = as_uint64(high) - as_uint64(low);
  const std::uint64_t steps = span / as_uint64(step);
  if (steps >= domain_values_max) return too_many(domain, std::to_string(steps) + "+");
  for (std::uint64_t i = 0; i <= steps; ++i) {
    domain.values.push_back(low + as_int64(i) * step);
  }
  return {};
}

PluginError expand_pow2(const hm_domain& raw, DomainDescription& domain) {
  if (raw.count != 2) return bad_domain(domain, "is a pow2 without {low, high}");
  const std::int64_t low = raw.values[0], high = raw.values[1];
  const auto is_pow2 = [](std::int64_t v) { return v > 0 && (v & (v - 1)) == 0; };
  if (!is_pow2(low) || !is_pow2(high) || low > high) {
    return bad_domain(domain, "has bounds that are no ascending powers of two");
  }
  for (auto v = as_uint64(low); v <= as_uint64(high); v *= 2) {
    domain.values.push_back(as_int64(v));
  }
  return {};
}

PluginError copy_labels(const hm_domain& raw, DomainDescription& domain) {
  std::set<std::string> seen;
  for (const std::uint32_t i : below(raw.count)) {
    const char* label = raw.labels[i];
    if (label == nullptr) return bad_domain(domain, "has a NULL label");
    const std::size_t length = ::strnlen(label, label_bytes_max + 1);
    if (length > label_bytes_max) return bad_domain(domain, "has a label that does not end");
    domain.labels.emplace_back(label, length);
    if (!seen.insert(domain.labels.back()).second) {
      return bad_domain(domain, "has the label '" + domain.labels.back() + "' twice");
    }
  }
  return {};
}

PluginError copy_domain(const hm_domain& raw, DomainDescription& domain) {
  domain.name = text(raw.name);
  domain.ordered = (raw.flags & HM_DOMAIN_ORDERED) != 0;
  domain.default_value = raw.default_value;
  if (domain.name.empty()) return bad_domain(domain, "has no name");
  if (raw.count == 0 || raw.values == nullptr) return bad_domain(domain, "is empty");
  if (raw.count > domain_values_max) return too_many(domain, std::to_string(raw.count));
  PluginError error;
  switch (raw.kind) {
    case HM_DOMAIN_LIST:
      domain.values.assign(raw.values, raw.values + raw.count);
      if (raw.labels != nullptr) error = copy_labels(raw, domain);
      break;
    case HM_DOMAIN_RANGE:
      error = expand_range(raw, domain);
      break;
    case HM_DOMAIN_POW2:
      error = expand_pow2(raw, domain);
      break;
    default:
      return bad_domain(domain, "has the unknown kind " + std::to_string(raw.kind));
  }
  if (!error.ok()) return error;
  const bool categorical = (raw.flags & HM_DOMAIN_CATEGORICAL) != 0;
  if (categorical && domain.labels.empty())
    return bad_domain(domain, "is categorical without labels");
  if (std::set(domain.values.begin(), domain.values.end()).size() != domain.values.size()) {
    return bad_domain(domain, "lists a value twice");
  }
  if (std::ranges::find(domain.values, domain.default_value) == domain.values.end()) {
    return bad_domain(domain, "has a default outside its values");
  }
  return {};
}

}  // namespace

PluginResult<std::vector<DomainDescription>> OpenDevice::domains(std::uint32_t kernel,
                                                                 const Problem& problem) noexcept {
  const ProblemView view(problem);
  const hm_kernel_api* api = plugin_.api->kernel;
  std::uint32_t count = 0;
  Call counting;
  auto error =
      counting.outcome(api->domain_count(handle(), kernel, view.get(), &count, counting.error()),
                       "kernel.domain_count");
  if (!error.ok()) return error;
  if (count > domains_max) return broken("a kernel claims " + std::to_string(count) + " domains");
  std::vector<DomainDescription> domains(count);
  for (const std::uint32_t i : below(count)) {
    OutStruct<hm_domain> raw;
    Call call;
    error = call.outcome(api->domain(handle(), kernel, view.get(), i, &raw.value, call.error()),
                         "kernel.domain");
    if (!error.ok()) return error;
    if (!raw.intact()) return overrun("kernel.domain");
    error = copy_domain(raw.value, domains[i]);
    if (!error.ok()) return error;
    for (const std::uint32_t j : below(i)) {
      if (domains[j].name == domains[i].name) return bad_domain(domains[i], "is listed twice");
    }
  }
  return domains;
}

PluginError OpenDevice::supports(std::uint32_t kernel, const Problem& problem,
                                 const Config* config) noexcept {
  const ProblemView problem_view(problem);
  const Params none;  // named: the view keeps pointers into the parameters
  const ConfigView config_view(config != nullptr ? config->params : none);
  Call call;
  return call.outcome(
      plugin_.api->kernel->supports(handle(), kernel, problem_view.get(),
                                    config ? config_view.get() : nullptr, call.error()),
      "kernel.supports");
}

PluginResult<PreparedKernel> OpenDevice::prepare(std::uint32_t kernel, const Problem& problem,
                                                 const Config* config,
                                                 const Communicator* communicator) noexcept {
  const ProblemView problem_view(problem);
  const Params none;  // named: the view keeps pointers into the parameters
  const ConfigView config_view(config != nullptr ? config->params : none);
  hm_prepared* prepared = nullptr;
  Call call;
  auto error =
      call.outcome(plugin_.api->kernel->prepare(
                       handle(), kernel, problem_view.get(), config ? config_view.get() : nullptr,
                       communicator ? communicator->handle() : nullptr, &prepared, call.error()),
                   "kernel.prepare");
  if (!error.ok()) return error;
  if (prepared == nullptr) return broken("kernel.prepare answered ok without a prepared kernel");
  return PreparedKernel(plugin_.api->kernel, prepared);
}

PluginResult<PreparedInfo> PreparedKernel::info() noexcept {
  OutStruct<hm_prepared_info> raw;
  Call call;
  auto error = call.outcome(api_->info(handle(), &raw.value, call.error()), "kernel.info");
  if (!error.ok()) return error;
  if (!raw.intact()) return overrun("kernel.info");
  PreparedInfo info;
  info.implementation = {text(raw.value.implementation), text(raw.value.isa),
                         text(raw.value.library), text(raw.value.library_version)};
  info.flags = raw.value.flags;
  info.operand_count = raw.value.operand_count;
  info.launches_per_execution = raw.value.launches_per_execution;
  info.workspace_bytes = raw.value.workspace_bytes;
  info.constant_bytes = raw.value.constant_bytes;
  if (info.implementation.name.empty()) return broken("kernel.info names no implementation");
  if (info.operand_count == 0 || info.operand_count > operands_max) {
    return broken("kernel.info claims " + std::to_string(info.operand_count) + " operands");
  }
  return info;
}

bool OperandInfo::is_opaque() const {
  return std::ranges::all_of(strides, [](std::int64_t s) { return s == 0; }) && !strides.empty();
}

PluginResult<OperandInfo> PreparedKernel::operand(std::uint32_t index) noexcept {
  OutStruct<hm_operand> raw;
  Call call;
  auto error =
      call.outcome(api_->operand(handle(), index, &raw.value, call.error()), "kernel.operand");
  if (!error.ok()) return error;
  if (!raw.intact()) return overrun("kernel.operand");
  OperandInfo operand;
  operand.name = text(raw.value.name);
  operand.layout = text(raw.value.layout);
  operand.role = raw.value.role;
  operand.bytes = raw.value.bytes;
  operand.alignment = raw.value.alignment;
  const std::string who = "operand " + std::to_string(index) + " ('" + operand.name + "') ";
  const auto dtype = dtype_from_value(raw.value.dtype);
  if (!dtype) return broken(who + "has the unknown dtype " + std::to_string(raw.value.dtype));
  operand.dtype = *dtype;
  if (operand.role < HM_ROLE_INPUT || operand.role > HM_ROLE_STATE) {
    return broken(who + "has the unknown role " + std::to_string(operand.role));
  }
  if (raw.value.rank > HM_RANK_MAX) {
    return broken(who + "has rank " + std::to_string(raw.value.rank));
  }
  if (operand.alignment == 0) operand.alignment = 1;
  if ((operand.alignment & (operand.alignment - 1)) != 0 || operand.alignment > (1u << 21)) {
    return broken(who + "wants an alignment of " + std::to_string(operand.alignment));
  }
  operand.dims.assign(raw.value.dims, raw.value.dims + raw.value.rank);
  operand.strides.assign(raw.value.strides, raw.value.strides + raw.value.rank);
  if (std::ranges::any_of(operand.dims, [](std::int64_t d) { return d < 0; })) {
    return broken(who + "has a negative dimension");
  }
  return operand;
}

bool PreparedKernel::can_load_constants() const { return HM_HAS(api_, load_constants); }

PluginError PreparedKernel::load_constants(DeviceStream& stream,
                                           const hm_arguments& arguments) noexcept {
  if (!can_load_constants()) return broken("a constant operand needs kernel.load_constants");
  Call call;
  return call.outcome(api_->load_constants(handle(), stream.handle(), &arguments, call.error()),
                      "kernel.load_constants");
}

PluginError PreparedKernel::enqueue(DeviceStream& stream, const hm_launch& launch) noexcept {
  Call call;
  return call.outcome(api_->enqueue(handle(), stream.handle(), &launch, call.error()),
                      "kernel.enqueue");
}

}  // namespace halmark
