#include "simulate/sharding/plan_answer.hpp"

#include "core/lists.hpp"
#include "core/numeric/clock.hpp"
#include "core/text/error.hpp"
#include "core/text/shell_word.hpp"
#include "core/text/text.hpp"
#include "core/text/units.hpp"
#include "model/pricing/memory_text.hpp"

namespace halmark::simulate {
namespace {

std::string why_not_executable(const PlanAnswer& answer) {
  const Configuration& c = answer.plan.chosen()->configuration;
  if (answer.question.training) return "a training step is priced, and not executable here";
  if (answer.offload) return "tensors in a slower memory are priced, and not executable here";
  if (!answer.question.stage_devices.empty()) {
    return "stages on devices that differ are priced, and not executable here";
  }
  if (c.parallel.cp > 1) return "context parallelism is priced, and not executable here";
  return {};
}

// The choice, or where that is priced alone the fastest that is not. Null: none is.
const PlannedLayout* executable_of(const PlanAnswer& answer) {
  if (answer.question.training || !answer.question.stage_devices.empty()) return nullptr;
  for (const PlannedLayout& layout : answer.plan.layouts) {
    if (layout.fits && layout.configuration.parallel.cp == 1) return &layout;
  }
  return nullptr;
}

[[noreturn]] void refuse_all(const ShardPlan& plan, const PlanQuestion& question) {
  std::string reasons;
  for (const auto& [reason, count] : plan.refused) {
    append_item(reasons, ", ", reason + " " + std::to_string(count));
  }
  throw refused("no layout over " + std::to_string(question.shards) + " shards is possible: " +
                    (plan.tried == 0 ? "the stated degrees do not multiply to them"
                                     : plan.first_refusal + " (" + reasons + ")"),
                question.base.key(), "another number of shards, or another batch");
}

void place(PlanAnswer& out, const fabric::Topology& topology) {
  const Parallel& parallel = out.plan.chosen()->configuration.parallel;
  out.placement = place_shards(topology, parallel);
  for (const int entity : out.placement->entities) {
    const fabric::Entity& e = topology.entities[as_size(entity)];
    out.places.push_back(e.name + (e.numa >= 0 ? " numa" + std::to_string(e.numa) : ""));
  }
}

// Of the largest stage: the others hold less, and wait for it.
void offload_rest(PlanAnswer& out, const fabric::Topology* topology) {
  const PlannedLayout& chosen = *out.plan.chosen();
  const MemoryUse memory = memory_use(out.graph);
  std::size_t largest_stage = 0;
  for (const auto s : indices(memory.stages)) {
    if (memory.stages[s].total() > memory.stages[largest_stage].total()) largest_stage = s;
  }
  if (!out.question.stage_devices.empty()) {
    throw refused("out_of_memory: no cut of " + chosen.configuration.parallel.text() +
                      " fits the devices of its stages",
                  chosen.configuration.key(), "more shards, or larger devices");
  }
  if (out.question.training) {
    throw refused("out_of_memory: the layout that is nearest, " +
                      chosen.configuration.parallel.text() + ", needs " +
                      std::to_string(chosen.largest.total()) + " bytes a shard",
                  chosen.configuration.key(), "more shards, a higher --zero, or a smaller batch");
  }
  const std::int64_t missing = chosen.largest.total() - out.question.bytes_max.value_or(0);
  const std::vector<OffloadItem> items = offload_items(out.graph, largest_stage);
  std::vector<OffloadTier> tiers;
  if (topology != nullptr) tiers = offload_tiers(*topology, out.question.shards);
  for (const OffloadTier& tier : tiers) {
    out.offload = offload(items, missing, tier);
    if (!out.offload) continue;
    for (const std::size_t i : out.offload->items) {
      out.offloaded.push_back({items[i].name, items[i].bytes, transfer_ns(items[i], tier)});
    }
    return;
  }
  throw refused("out_of_memory: the layout that is nearest, " +
                    chosen.configuration.parallel.text() + ", is short by " +
                    memory_size_text(missing) + " a shard, and " +
                    (tiers.empty() ? "no slower memory is known" : "no slower memory holds them"),
                chosen.configuration.key(),
                "more shards, narrower types, or a fabric whose file has a [[tier]] large enough");
}

// Imbalance of experts as an option has it: a word, or the factor.
std::string imbalance_text(std::int64_t ppm) {
  return ppm == Workload::uniform_ppm ? "uniform" : number_text(as_double(ppm) / 1e6);
}

}  // namespace

std::string run_command(const Configuration& c) {
  const Workload& w = c.workload;
  std::string out =
      "halmark run " + shell_word(c.model) + " --phase " + std::string(phase_name(w.phase));
  const auto add = [&out](const char* name, std::int64_t value, std::int64_t usual) {
    if (value != usual) out += std::string(" --") + name + ' ' + std::to_string(value);
  };
  const bool is_decode = w.phase == Phase::decode;
  add("batch", w.batch, 1);
  // Without its new tokens a prompt has as many as its context.
  add("new-tokens", w.new_tokens, is_decode ? 1 : w.context == w.new_tokens ? 512 : 0);
  add("context", w.context, is_decode ? 1024 : w.new_tokens);
  add("dp", c.parallel.dp, 1);
  add("tp", c.parallel.tp, 1);
  add("pp", c.parallel.pp, 1);
  add("ep", c.parallel.ep, 1);
  if (!c.parallel.stages.empty()) out += " --stages " + join(c.parallel.stages, ",");
  add("routing-skew", w.routing_skew, Workload::even_routing);
  if (w.expert_imbalance_ppm != Workload::balanced_ppm) {
    out += " --expert-imbalance " + imbalance_text(w.expert_imbalance_ppm);
  }
  return out + " --dtype " + shell_word(c.precision.name);
}

double PlanAnswer::tokens_per_s() const {
  const Workload& w = question.base.workload;
  return as_double(w.batch * w.new_tokens) / step_ns() * ns_per_s;
}

PlanAnswer answer_plan(const ModelSpec& spec, const PlanQuestion& question,
                       const OperatorTime& time, const fabric::Topology* topology,
                       const std::optional<MeasuredPairs>& pairs) {
  const auto began = SteadyClock::now();
  PlanAnswer out{.model = spec.id, .question = question};
  out.reads_journal = pairs.has_value();
  OperatorTime used = time;
  if (pairs) {
    out.calibration = {calibrate(pairs->compute), calibrate(pairs->communication)};
    const bool corrects =
        out.calibration.compute.is_applied() || out.calibration.communication.is_applied();
    if (corrects) {
      const ShardPlan first = plan_shards(spec, question, time);
      if (first.chosen() != nullptr) out.before = *first.chosen();
      used = corrected(time, out.calibration);
    }
  }
  out.plan = plan_shards(spec, question, used);
  if (out.plan.chosen() == nullptr) refuse_all(out.plan, question);
  const Configuration& chosen = out.plan.chosen()->configuration;
  out.graph = *build_graph(spec, chosen);
  out.table = shard_table(out.graph, question.training);
  for (const auto s : indices(out.graph.stages)) {
    out.owners.push_back(owners_text(owners_of(chosen.parallel, s)));
  }
  if (topology != nullptr) place(out, *topology);
  // A mixture of strategies that fits goes before moving tensors out.
  if (!out.plan.chosen()->fits && !out.plan.grouped) offload_rest(out, topology);
  out.not_executable = why_not_executable(out);
  if (const PlannedLayout* run = executable_of(out)) {
    out.command = run_command(run->configuration);
    out.command_ns = run->cost.alone_ns;
  }
  out.planning_s = seconds_since(began);
  return out;
}

}  // namespace halmark::simulate
