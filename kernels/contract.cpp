#include "kernels/contract.hpp"
#include "core/ranges.hpp"

#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

// Larger operands are a typing error on every machine that exists (64 TiB).
constexpr double operand_bytes_max = 0x1p46;

std::string spelled(const ParamSpec& spec, std::int64_t value) {
  if (spec.kind == ParamKind::dtype) {
    if (const auto dtype = dtype_from_value(value)) return std::string(dtype_name(*dtype));
  }
  return std::to_string(value);
}

std::string allowed_text(const ParamSpec& spec) {
  if (spec.allowed.empty()) {
    return std::to_string(spec.low) + ".." + std::to_string(spec.high);
  }
  return join(spec.allowed, ", ", [&](const auto value) { return spelled(spec, value); });
}

bool is_allowed(const ParamSpec& spec, std::int64_t value) {
  if (spec.allowed.empty()) return value >= spec.low && value <= spec.high;
  return contains(spec.allowed, value);
}

void check_names(const OpContract& contract, const Params& params) {
  const auto specs = contract.params();
  for (const auto& param : params.items()) {
    if (contains(specs, param.name, &ParamSpec::name)) continue;
    std::vector<std::string> known;
    for (const auto& spec : specs) known.emplace_back(spec.name);
    throw refused("op " + std::string(contract.name()) + " has no parameter '" +
                  printable(param.name) + "'; " + suggestion(param.name, known));
  }
}

void derive(const OpContract& contract, const ParamSpec& spec, Params& params) {
  const auto value = contract.derived(spec.name, params);
  const auto given = params.find(spec.name);
  if (given && *given != value) {
    throw refused("op " + std::string(contract.name()) + ": " + std::string(spec.name) + "=" +
                  std::to_string(*given) + ", but it follows from the other parameters as " +
                  std::to_string(value) + "; leave it out");
  }
  params.set(spec.name, value);
}

void fill_and_check_range(const OpContract& contract, const ParamSpec& spec, Params& params) {
  const auto given = params.find(spec.name);
  if (!given && !spec.fallback) {
    throw refused("op " + std::string(contract.name()) + " needs parameter '" +
                  std::string(spec.name) + "' (" + std::string(spec.meaning) + ")");
  }
  const auto value = given.value_or(spec.fallback.value_or(0));
  if (!is_allowed(spec, value)) {
    throw refused("op " + std::string(contract.name()) + ": " + std::string(spec.name) + "=" +
                  spelled(spec, value) + " is out of range; expected " + allowed_text(spec));
  }
  params.set(spec.name, value);
}

void check_sizes(const OpContract& contract, const Params& params) {
  for (const auto& operand : contract.operands(params)) {
    double bytes = dtype_bits(operand.dtype) / 8.0;
    for (const auto dim : operand.dims) bytes *= static_cast<double>(dim);
    if (bytes > operand_bytes_max) {
      throw refused("op " + std::string(contract.name()) + ": operand " + operand.name +
                    " would need more than 64 TiB");
    }
  }
}

}  // namespace

std::int64_t OperandSpec::elements() const {
  std::int64_t count = 1;
  for (const auto dim : dims) count *= dim;
  return count;
}

std::int64_t OperandSpec::bytes() const {
  if (dims.empty()) return dtype_bytes(dtype, 1);
  return dtype_bytes(dtype, dims.back()) * (elements() / dims.back());
}

const OpContract* find_contract(std::string_view op) {
  for (const auto* contract : all_contracts()) {
    if (contract->name() == op) return contract;
  }
  return nullptr;
}

void require_measurable(std::string_view op) {
  const auto* contract = find_contract(op);
  if (contract == nullptr || contract->is_measurable()) return;
  throw refused(
      "op " + printable(op) + " has a formula and no reference yet: it is priced, not measured", {},
      "'halmark model' prices it");
}

Problem complete_problem(const Problem& problem) {
  const auto* contract = find_contract(problem.op);
  if (contract == nullptr) {
    std::vector<std::string> known;
    for (const auto* each : all_contracts()) known.emplace_back(each->name());
    throw refused("unknown op '" + printable(problem.op) + "'; " + suggestion(problem.op, known));
  }
  Problem complete = problem;
  check_names(*contract, complete.params);
  for (const auto& spec : contract->params()) {
    if (!spec.derived) fill_and_check_range(*contract, spec, complete.params);
  }
  if (const auto fault = contract->check_relations(complete.params)) {
    throw refused("op " + problem.op + ": " + *fault);
  }
  for (const auto& spec : contract->params()) {
    if (spec.derived) derive(*contract, spec, complete.params);
  }
  check_sizes(*contract, complete.params);
  return complete;
}

}  // namespace halmark
