#include "cli/bench_cases.hpp"

#include <algorithm>
#include <map>

#include "core/winner.hpp"
#include "kernels/contract.hpp"
#include "plan/param_grid.hpp"
#include "plan/sweep.hpp"
#include "tune/plan/plan.hpp"

namespace halmark::cli {
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
    params.set(spec.name, static_cast<std::int64_t>(value));
  }
}

KernelCase case_of(const BenchOptions& options, const OpContract& contract, Params params,
                   Dtype dtype) {
  apply_dtype(contract, dtype, params);
  const CacheMode mode = options.mode == "hot"          ? CacheMode::hot
                         : options.mode == "rotate_all" ? CacheMode::rotate_all
                                                        : CacheMode::rotate_const;
  const Problem problem = complete_problem({options.op, params});
  // The ranks of a collective are shards: each has its own part of the device.
  const int ranks = static_cast<int>(problem.params.value_or("ranks", 1));
  const int shards = std::max(options.shards, ranks);
  return {.problem = problem,
          .kernel = options.kernel,
          .backend = options.backend,
          .device = options.device,
          .parts = std::max(options.parts, shards),
          .shards_at_once = shards,
          .mode = mode,
          .sets = mode == CacheMode::hot ? 1 : options.sets};
}

}  // namespace

std::vector<KernelCase> cases_of(const BenchOptions& options) {
  const OpContract* contract = find_contract(options.op);
  if (contract == nullptr) {
    std::vector<std::string> names;
    for (const OpContract* c : all_contracts()) names.emplace_back(c->name());
    throw refused("unknown op '" + options.op + "'", {}, suggestion(options.op, names));
  }
  require_measurable(options.op);
  const std::vector<Params> grid = parse_param_grid(options.params);
  std::vector<KernelCase> out;
  for (const std::string& text : options.dtypes) {
    const auto dtype = parse_dtype(text);
    if (!dtype) {
      std::vector<std::string> names;
      for (const Dtype d : all_dtypes()) names.emplace_back(dtype_name(d));
      throw refused("unknown dtype '" + text + "'", {}, suggestion(text, names));
    }
    for (const Params& given : grid) {
      KernelCase next = case_of(options, *contract, given, *dtype);
      // Where --params gives every dtype, --dtype has nothing left to vary.
      if (std::ranges::find(out, next) == out.end()) out.push_back(std::move(next));
    }
  }
  return out;
}

// Kernels of a sweep by problem and place: variants are compared once, whatever the ring.
std::vector<KernelCase> sweep_questions(const BenchOptions& options, const LocalMachine& machine) {
  const Sweep sweep = read_sweep(options.sweep);
  ModelSpec spec = load_model(sweep.model, config_dirs("models"));
  const PrecisionFacts precisions = precision_facts(spec, machine.has_bf16);
  const tune::TunePlan plan(sweep, std::move(spec),
                            target_of(machine, sweep.backend, sweep.device, {}),
                            tune::shard_counts(sweep, machine.cores), precisions, true);
  std::map<std::string, KernelCase> unique;
  for (const KernelCase& k : plan.forecast().kernels) {
    const bool is_wanted = options.op.empty() || k.problem.op == options.op;
    if (is_wanted && !k.is_collective()) unique.try_emplace(winner_key(k), k);
  }
  if (unique.empty()) {
    throw refused("this sweep has no kernel of op '" + options.op + "'", options.sweep);
  }
  std::vector<KernelCase> out;
  for (auto& [key, question] : unique) out.push_back(std::move(question));
  return out;
}

}  // namespace halmark::cli
