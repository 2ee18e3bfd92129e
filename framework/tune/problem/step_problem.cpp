// Workloads of a sweep are a union of small boxes (batches x precisions at one length). The space
// has one parameter per quantity, and where the boxes do not fill it, one constraint that is their
// union: samplers see batch, length and precision apart, and the plan counts what the boxes hold.
#include "tune/problem/step_problem.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "model/graph/graph.hpp"
#include "plan/shard_places.hpp"

namespace halmark::tune {

namespace {

const std::vector<std::string>& precisions_of(const Sweep& sweep, const SweepWorkload& workload) {
  return workload.precisions.empty() ? sweep.precisions : workload.precisions;
}

// Distinct values over all workloads of the phase.
struct Values {
  std::vector<std::int64_t> new_tokens, context, batch;
  std::vector<std::string> precisions;
};

Values values_of(const Sweep& sweep, std::span<const SweepWorkload> workloads) {
  Values out;
  for (const SweepWorkload& w : workloads) {
    out.new_tokens.push_back(w.new_tokens);
    out.context.push_back(w.context);
    append_all(out.batch, w.batches);
    for (const std::string& name : precisions_of(sweep, w)) {
      const bool is_known = contains(out.precisions, name);
      if (!is_known) out.precisions.push_back(name);
    }
  }
  for (auto* values : {&out.new_tokens, &out.context, &out.batch}) {
    *values = unique_sorted(std::move(*values));
  }
  return out;
}

// The box of one workload; "" where it is the whole space.
std::string box_text(const Sweep& sweep, const SweepWorkload& w, const Values& all) {
  std::string out;
  const auto add = [&out](const std::string& text) { append_item(out, " and ", text); };
  if (all.new_tokens.size() > 1) add("new_tokens == " + std::to_string(w.new_tokens));
  if (all.context.size() > 1) add("context == " + std::to_string(w.context));
  const std::vector<std::int64_t> batches = unique_sorted(w.batches);
  if (batches != all.batch) add(member_text("batch", batches));
  const std::vector<std::string>& precisions = precisions_of(sweep, w);
  const bool has_all = std::ranges::all_of(
      all.precisions, [&](const std::string& name) { return contains(precisions, name); });
  if (!has_all) add(member_text("precision", precisions));
  return out;
}

void require_union(const Sweep& sweep, std::span<const SweepWorkload> workloads, const Values& all,
                   Parameters& out) {
  std::string text;
  for (const SweepWorkload& w : workloads) {
    const std::string box = box_text(sweep, w, all);
    if (box.empty()) return;
    text += (text.empty() ? "(" : " or (") + box + ')';
  }
  out.require("no_such_workload", text);
}

// Checks of splits and precisions ask about one token.
Configuration least_load(Configuration c) {
  c.workload.new_tokens = c.workload.context = 1;
  return c;
}

// Lengths that the model itself refuses.
void require_lengths(const ModelSpec& spec, const Configuration& base, const Values& all,
                     Parameters& out) {
  std::map<std::string, std::vector<std::int64_t>> refused;
  for (const std::int64_t context : all.context) {
    Configuration c = least_load(base);
    c.workload.context = context;
    if (const auto refusal = check_configuration(spec, c))
      refused[refusal->reason].push_back(context);
  }
  for (const auto& [reason, contexts] : refused) {
    out.require(reason, "not (" + member_text("context", contexts) + ")");
  }
}

// Ranks of context parallelism cut the tokens of a sequence: which degrees are possible depends on
// its lengths.
void require_context_split(const ModelSpec& spec, const Configuration& base,
                           std::span<const SweepWorkload> workloads,
                           std::span<const std::int64_t> degrees, Parameters& out) {
  for (const std::int64_t cp : degrees) {
    for (const SweepWorkload& w : workloads) {
      Configuration c = base;
      c.workload.batch = 1;
      c.workload.new_tokens = w.new_tokens;
      c.workload.context = w.context;
      if (check_configuration(spec, c)) continue;  // not for its split
      c.parallel = {.cp = as_int(cp)};
      const auto refusal = check_configuration(spec, c);
      if (!refusal) continue;
      std::string text = "cp == " + std::to_string(cp);
      text += " and context == " + std::to_string(w.context);
      if (w.phase == Phase::prefill) text += " and new_tokens == " + std::to_string(w.new_tokens);
      out.require(refusal->reason, "not (" + text + ")");
    }
  }
}

// Cuts that the sweep states, beside the even one; each goes with its own number of stages.
void add_stages(const Sweep& sweep, const ModelSpec& spec, Parameters& out) {
  if (sweep.stages.empty()) return;
  if (sweep.sampler == "certify") {
    throw refused("stages are stated, and proofs know equal ones alone", sweep.stages_where,
                  "leave them out, or take another sampler");
  }
  std::vector<std::string> names = {"even"};
  std::string fits = "stages == \"even\"";
  for (const std::vector<int>& stages : sweep.stages) {
    const int layers = std::accumulate(stages.begin(), stages.end(), 0);
    names.push_back(join(stages, ","));
    if (layers != spec.layers) {
      throw refused("stages " + names.back() + " hold " + std::to_string(layers) + " layers, and " +
                        spec.id + " has " + std::to_string(spec.layers),
                    sweep.stages_where);
    }
    fits += " or stages == \"" + names.back() + "\" and pp == " + std::to_string(stages.size());
  }
  out.add_choices("stages", names, [all = sweep.stages](Configuration& c, const std::string& name) {
    c.parallel.stages.clear();
    for (const std::vector<int>& stages : all) {
      if (join(stages, ",") == name) c.parallel.stages = stages;
    }
  });
  out.require("stages_do_not_match_pp", fits);
}

// Where ranks lie: of one choice always, of several as a parameter that fixes their number.
void add_places(const Sweep& sweep, Configuration& base, Parameters& out) {
  if (sweep.shards_on.empty()) return;
  base.places = sweep.shards_on.front();
  if (sweep.shards_on.size() == 1) return;
  std::vector<std::string> names;
  std::string fits;
  for (const std::vector<ShardPlace>& places : sweep.shards_on) {
    names.push_back(shard_places_text(places));
    append_item(fits, " or ",
                "shards_on == \"" + names.back() +
                    "\" and dp * tp * pp == " + std::to_string(places.size()));
  }
  out.add_choices("shards_on", names,
                  [all = sweep.shards_on](Configuration& c, const std::string& name) {
                    for (const std::vector<ShardPlace>& places : all) {
                      if (shard_places_text(places) == name) c.places = places;
                    }
                  });
  out.require("places_do_not_match", fits);
}

// Counting a space takes time with what it declares, about ten seconds at this limit.
void require_countable(const Sweep& sweep, Phase phase, const SpaceDescription& space) {
  double combinations = 1;
  for (const SearchDomain& d : space.domains) combinations *= as_double(d.levels());
  if (combinations <= as_double(step_combinations_max)) return;
  throw refused(std::string(phase_name(phase)) + " declares " + number_text(combinations, 3) +
                    " combinations; the limit is " + std::to_string(step_combinations_max),
                sweep.file, "take fewer batches, lengths or shards");
}

}  // namespace

TuneProblem step_problem(const Sweep& sweep, Phase phase, const ModelSpec& spec,
                         std::span<const std::int64_t> shards, const PrecisionFacts& precisions) {
  std::vector<SweepWorkload> workloads;
  std::ranges::copy_if(sweep.workloads, std::back_inserter(workloads),
                       [phase](const SweepWorkload& w) { return w.phase == phase; });
  const Values all = values_of(sweep, workloads);
  Configuration base;
  base.model = spec.id;
  base.workload.phase = phase;
  base.workload.new_tokens = all.new_tokens.front();
  base.workload.context = all.context.front();
  base.workload.routing_skew = sweep.routing_skew;

  Parameters out;
  if (phase == Phase::prefill) {
    out.add_integers("new_tokens", all.new_tokens,
                     [](Configuration& c, std::int64_t v) { c.workload.new_tokens = v; });
  }
  out.add_integers("context", all.context,
                   [](Configuration& c, std::int64_t v) { c.workload.context = v; });
  out.add_integers("batch", all.batch,
                   [](Configuration& c, std::int64_t v) { c.workload.batch = v; });
  const Configuration like = least_load(base);
  base.precision = add_precisions(all.precisions, sweep, spec, like, precisions, out);
  require_lengths(spec, base, all, out);
  const DegreeLists degrees = degree_lists(sweep, spec, shards);
  add_layout(spec, least_load(base), degrees, shards, {}, out);
  add_stages(sweep, spec, out);
  add_places(sweep, base, out);
  require_context_split(spec, base, workloads, degrees.cp, out);
  // Stages that stand idle have a price; a budget of measuring is not spent on them, and the
  // formulas of a proof are of full pipelines.
  const std::string full = "batch % (dp * pp) == 0";
  const bool is_priced = !sweep.latency.empty();
  out.require("parts_do_not_divide_batch",
              is_priced ? "batch % dp == 0 and batch < dp * pp or " + full : full);
  require_union(sweep, workloads, all, out);
  require_countable(sweep, phase, out.description);
  return {std::string(phase_name(phase)),
          std::move(out.description),
          std::move(out.setters),
          std::move(base),
          sweep.objectives,
          {}};
}

}  // namespace halmark::tune
