// The contract of an op says what else a case needs; the rest is what was asked for.
#include "tune/plan/kernel_cases.hpp"

#include <algorithm>
#include <map>

#include "core/chosen/winner.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "kernels/example.hpp"
#include "plan/param_grid.hpp"

namespace halmark::tune {
namespace {

// Sets every dtype parameter that the contract asks for and the user did not name.
void apply_dtype(const OpContract& contract, Dtype dtype, Params& params) {
  for (const ParamSpec& spec : contract.params()) {
    if (spec.kind != ParamKind::dtype || params.find(spec.name)) continue;
    const bool is_output = spec.name == "dst_dtype";
    Dtype value = dtype;
    // The field's pairs: s8 products accumulate in s32; the quantiser starts from floats.
    if (dtype == Dtype::s8 && contract.name().ends_with("gemm") && is_output) value = Dtype::s32;
    if (spec.fallback) continue;
    params.set(spec.name, as_int64(value));
  }
}

KernelCase case_of(const CaseRequest& request, const OpContract& contract, Params params,
                   Dtype dtype) {
  apply_dtype(contract, dtype, params);
  const CacheMode mode = request.mode == "hot"          ? CacheMode::hot
                         : request.mode == "rotate_all" ? CacheMode::rotate_all
                                                        : CacheMode::rotate_const;
  const Problem problem = complete_problem({request.op, params});
  // The ranks of a collective are shards: each has its own part of the device.
  const int ranks = as_int(problem.params.value_or("ranks", 1));
  const int shards = std::max(request.shards, ranks);
  return {.problem = problem,
          .kernel = request.kernel,
          .backend = request.backend,
          .device = request.device,
          .parts = std::max(request.parts, shards),
          .shards_at_once = shards,
          .mode = mode,
          .sets = mode == CacheMode::hot ? 1 : request.sets};
}

const OpContract& contract_named(const std::string& op) {
  const OpContract* contract = find_contract(op);
  if (contract == nullptr) {
    std::vector<std::string> names;
    for (const OpContract* c : all_contracts()) names.emplace_back(c->name());
    throw refused("unknown op '" + op + "'", {}, suggestion(op, names));
  }
  require_measurable(op);
  return *contract;
}

Dtype dtype_named(const std::string& text) {
  if (const auto dtype = parse_dtype(text)) return *dtype;
  std::vector<std::string> names;
  for (const Dtype d : all_dtypes()) names.emplace_back(dtype_name(d));
  throw refused("unknown dtype '" + text + "'", {}, suggestion(text, names));
}

// All that is missing at once, and words that miss nothing.
void require_sizes(const OpContract& contract, const Params& given) {
  std::string missing;
  for (const ParamSpec* spec : missing_of(contract, given)) {
    missing += (missing.empty() ? "'" : ", '") + std::string(spec->name) + "' (" +
               std::string(spec->meaning) + ')';
  }
  if (missing.empty()) return;
  const auto usual = usual_problem(contract, given);
  throw refused("op " + std::string(contract.name()) + " lacks " + missing, "--params",
                usual ? "as in " + words_of(contract, *usual).text() : "");
}

}  // namespace

std::string take_usual(CaseRequest& request) {
  if (request.op.empty()) {
    throw refused("--op is required", {}, "as in --op gemm; halmark ops lists them");
  }
  const OpContract& contract = contract_named(request.op);
  const auto usual = usual_problem(contract, {});
  if (!usual) return {};
  const ProblemWords words = words_of(contract, *usual);
  std::string out;
  if (request.params.empty() && !missing_of(contract, {}).empty()) {
    request.params = words.params;
    out = "--params " + words.params;
  }
  if (request.dtypes.empty()) {
    request.dtypes = {words.dtype};
    out += (out.empty() ? "--dtype " : " --dtype ") + words.dtype;
  }
  return out;
}

std::vector<KernelCase> kernel_cases(const CaseRequest& request) {
  const OpContract& contract = contract_named(request.op);
  const std::vector<Params> grid = parse_param_grid(request.params);
  std::vector<Dtype> dtypes;
  for (const std::string& text : request.dtypes) dtypes.push_back(dtype_named(text));
  if (!grid.empty()) require_sizes(contract, grid.front());
  std::vector<KernelCase> out;
  for (const Dtype dtype : dtypes) {
    for (const Params& given : grid) {
      KernelCase next = case_of(request, contract, given, dtype);
      // Where the parameters give every dtype, the list of dtypes has nothing left to vary.
      if (!contains(out, next)) out.push_back(std::move(next));
    }
  }
  return out;
}

std::vector<KernelCase> kernel_cases(const CaseRequest& request, std::span<const ShardPlace> on) {
  std::vector<KernelCase> out;
  for (const ShardPlace& place : on) {
    CaseRequest own = request;
    own.backend = place.backend;
    own.device = place.device;
    own.parts = place.parts;
    own.shards = as_int(std::ranges::count(on, place.device_text(), &ShardPlace::device_text));
    for (KernelCase& k : kernel_cases(own)) {
      if (!contains(out, k)) out.push_back(std::move(k));
    }
  }
  return out;
}

std::vector<KernelCase> night_cases(const Sweep& sweep, const std::vector<AskedKernels>& asked) {
  std::vector<KernelCase> out;
  for (const AskedKernels& one : asked) {
    try {
      for (KernelCase& k : kernel_cases({.op = one.op,
                           .params = one.params,
                           .dtypes = one.dtypes,
                           .backend = sweep.backend,
                           .device = sweep.device})) {
        if (!contains(out, k)) out.push_back(std::move(k));
      }
    } catch (const Error& e) {
      throw Error(e.exit_code(), e.what(), one.where, e.remedy());
    }
  }
  return out;
}

KernelCase executed_case(const Problem& problem, double constant_bytes, const Target& target) {
  constexpr std::int64_t sets_max = 1024;  // each is prepared by the plugin
  const Problem complete = complete_problem(problem);
  const double own = find_contract(complete.op)->work(complete.params).constant_bytes;
  const auto ring = std::min(target.ring_bytes(1), as_int64(constant_bytes));
  return {.problem = complete,
          .config = {},
          .kernel = {},
          .backend = target.backend,
          .device = target.device,
          .sets = ring_sets(ring, as_int64(own), sets_max),
          .neighbours = {}};
}

std::vector<KernelCase> variant_questions(const TunePlan& plan, const std::string& op) {
  std::map<std::string, KernelCase> unique;
  for (const KernelCase& k : plan.forecast().kernels) {
    const bool is_wanted = op.empty() || k.problem.op == op;
    if (!is_wanted || k.is_collective()) continue;
    // Variants are compared in loops of their own, wherever the kernel stands.
    KernelCase question = k;
    question.mode = k.staging();
    question.neighbours.clear();
    unique.try_emplace(winner_key(question), question);
  }
  if (unique.empty()) {
    throw refused("this sweep has no kernel of op '" + op + "'", plan.sweep().file);
  }
  std::vector<KernelCase> out;
  for (auto& [key, question] : unique) out.push_back(std::move(question));
  return out;
}

}  // namespace halmark::tune
