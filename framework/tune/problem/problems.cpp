// From a sweep file to its problems: what is asked for that the model or the sweep does not have is
// refused here, before anything is measured or priced.
#include <algorithm>

#include "core/text/error.hpp"
#include "tune/problem/served_problem.hpp"
#include "tune/problem/step_problem.hpp"

namespace halmark::tune {

namespace {

void refuse_skew_without_experts(const Sweep& sweep, const ModelSpec& spec) {
  if (sweep.routing_skew == 0 || spec.moe) return;
  throw refused("routing_skew is given, but " + spec.id + " has no experts",
                sweep.routing_skew_where, "leave it out, or name a mixture of experts");
}

// "shard_count leaves out 3 combinations, tp_does_not_divide_heads 1"
std::string reasons_of(const TuneProblem& problem) {
  std::string out;
  for (const auto& [name, count] : problem.space().discarded()) {
    if (count == 0) continue;
    out += (out.empty() ? "" : ", ") + name + " leaves out " + std::to_string(count);
  }
  return out;
}

}  // namespace

std::vector<TuneProblem> problems_of(const Sweep& sweep, const ModelSpec& spec,
                                     std::span<const std::int64_t> shards,
                                     const PrecisionFacts& precisions) {
  refuse_skew_without_experts(sweep, spec);
  std::vector<TuneProblem> out;
  if (sweep.served) {
    out.push_back(served_problem(sweep, spec, shards, precisions));
  } else {
    for (const Phase phase : {Phase::decode, Phase::prefill}) {
      if (std::ranges::find(sweep.workloads, phase, &SweepWorkload::phase) == sweep.workloads.end())
        continue;
      out.push_back(step_problem(sweep, phase, spec, shards, precisions));
    }
  }
  const bool is_possible = std::ranges::any_of(
      out, [](const TuneProblem& problem) { return problem.space().size() > 0; });
  if (!is_possible) {
    throw refused("no configuration of this sweep is possible", sweep.file,
                  reasons_of(out.front()));
  }
  return out;
}

}  // namespace halmark::tune
