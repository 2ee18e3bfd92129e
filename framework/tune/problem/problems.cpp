// From a sweep file to its problems: what is asked for that the model or the sweep does not have is
// refused here, before anything is measured or priced.
#include <algorithm>
#include <numeric>
#include <span>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "tune/problem/parameters.hpp"
#include "tune/problem/step_problem.hpp"

namespace halmark::tune {

namespace {

// The problem of requests: how a load can be served, by equal replicas or by workers of two kinds.

constexpr const char* is_aggregated = "mode == \"aggregated\"";
constexpr const char* is_disaggregated = "mode == \"disaggregated\"";

// A worker is one replica of one stage, its experts on one rank or spread over all of its ranks.
void add_worker(const std::string& kind, Parallel& (*of)(Configuration&), int ServedLoad::*workers,
                const ModelSpec& spec, const Configuration& like, const DegreeLists& degrees,
                std::span<const std::int64_t> counts, Parameters& out) {
  const DegreeNames names{.dp = {}, .tp = kind + "_tp", .pp = {}, .ep = kind + "_ep"};
  out.add_integers(
      kind + "_workers", counts,
      [workers](Configuration& c, std::int64_t v) { (*c.served).*workers = as_int(v); },
      is_disaggregated);
  out.add_integers(
      names.tp, degrees.tp, [of](Configuration& c, std::int64_t v) { of(c).tp = as_int(v); },
      is_disaggregated);
  out.add_integers(
      names.ep, degrees.ep, [of](Configuration& c, std::int64_t v) { of(c).ep = as_int(v); },
      is_disaggregated);
  out.require("experts_of_a_worker", names.ep + " == 1 or " + names.ep + " == " + names.tp);
  out.require(split_rules(spec, like, {.tp = degrees.tp, .ep = degrees.ep}, names));
}

// Every size of worker that some split of the devices can have and the model allows: there are two
// kinds of workers, and sizes that are never possible would count in both.
DegreeLists worker_degrees(const Sweep& sweep, const ModelSpec& spec, const Configuration& like,
                           std::int64_t most) {
  std::vector<std::int64_t> sizes(as_size(most - 1));
  std::iota(sizes.begin(), sizes.end(), 1);
  const std::vector<std::int64_t> one = {1};
  return possible_degrees(spec, like,
                          {.tp = wants(sweep, "tensor") ? sizes : one,
                           .ep = wants(sweep, "expert") && spec.moe ? sizes : one});
}

void add_workers(const Sweep& sweep, const ModelSpec& spec, const Configuration& like,
                 std::span<const std::int64_t> devices, Parameters& out) {
  const std::int64_t most = *std::ranges::max_element(devices);
  const DegreeLists degrees = worker_degrees(sweep, spec, like, most);
  std::vector<std::int64_t> counts(as_size(most - 1));
  std::iota(counts.begin(), counts.end(), 1);
  add_worker(
      "prefill", [](Configuration& c) -> Parallel& { return c.served->prefill; },
      &ServedLoad::prefill_workers, spec, like, degrees, counts, out);
  add_worker(
      "decode", [](Configuration& c) -> Parallel& { return c.parallel; },
      &ServedLoad::decode_workers, spec, like, degrees, counts, out);
  out.require("shard_count",
              member_text("prefill_workers * prefill_tp + decode_workers * decode_tp", devices));
}

bool has_mode(const Sweep& sweep, ServingMode mode) {
  return std::ranges::find(sweep.served->modes, mode) != sweep.served->modes.end();
}

void add_modes(const Sweep& sweep, bool has_workers, Parameters& out) {
  std::vector<std::string> modes;
  if (has_mode(sweep, ServingMode::aggregated)) modes.emplace_back("aggregated");
  if (has_workers) modes.emplace_back("disaggregated");
  out.add_choices("mode", modes, [](Configuration& c, const std::string& v) {
    c.served->mode = v == "aggregated" ? ServingMode::aggregated : ServingMode::disaggregated;
  });
}

TuneProblem served_problem(const Sweep& sweep, const ModelSpec& spec,
                           std::span<const std::int64_t> devices,
                           const PrecisionFacts& precisions) {
  const ServedSweep& asked = *sweep.served;
  Configuration base;
  base.model = spec.id;
  base.workload.routing_skew = sweep.routing_skew;
  base.served = ServedLoad{.request = asked.request};
  const bool has_workers =
      has_mode(sweep, ServingMode::disaggregated) && *std::ranges::max_element(devices) > 1;

  Parameters out;
  add_modes(sweep, has_workers, out);
  Configuration like = base;
  like.served.reset();
  base.precision = like.precision =
      add_precisions(sweep.precisions, sweep, spec, like, precisions, out);
  if (has_mode(sweep, ServingMode::aggregated)) {
    DegreeLists degrees = degree_lists(sweep, spec, devices);
    degrees.cp = {1};  // steps of served loads are priced without context parallelism
    add_layout(spec, like, degrees, devices, is_aggregated, out);
  }
  if (has_workers) add_workers(sweep, spec, like, devices, out);
  out.add_integers("concurrency", unique_sorted(asked.concurrency),
                   [](Configuration& c, std::int64_t v) { c.served->concurrency = v; });
  out.add_integers("token_budget", unique_sorted(asked.token_budgets),
                   [](Configuration& c, std::int64_t v) { c.served->token_budget = v; });
  if (has_mode(sweep, ServingMode::aggregated)) {
    out.require("parts_do_not_divide_concurrency", "concurrency % (dp * pp) == 0");
  }
  return {"requests",      std::move(out.description), std::move(out.setters),
          std::move(base), asked.objectives,           asked.levels};
}

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
    append_item(out, ", ", name + " leaves out " + std::to_string(count));
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
      if (!contains(sweep.workloads, phase, &SweepWorkload::phase)) continue;
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
