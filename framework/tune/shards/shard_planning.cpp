#include "tune/shards/shard_planning.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "model/pricing/engine_memory.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "tune/shards/journal_steps.hpp"
#include "tune/shards/shard_times.hpp"
#include "tune/sources/served_engine.hpp"

namespace halmark::tune {
namespace {

constexpr std::int64_t lite_shards_max = 2, shards_max = 65536;

const std::vector<std::string>& strategies() {
  static const std::vector<std::string> out = {"data", "tensor", "pipeline", "expert", "context"};
  return out;
}

// Strategies that are not named get degree 1; 0 leaves a degree to the planner.
Parallel stated_degrees(const Configuration& configuration, const std::string& strategy) {
  std::vector<std::string> named;
  std::stringstream words(strategy);
  for (std::string word; std::getline(words, word, ',');) {
    if (word != "auto" && !contains(strategies(), word)) {
      throw refused("unknown strategy '" + printable(word) + "'", "--strategy",
                    "auto, or of data,tensor,pipeline,expert,context those that may be used");
    }
    named.push_back(word);
  }
  const bool is_auto = contains(named, "auto");
  const auto degree = [&](const char* word, int given) {
    if (given < 1) throw refused("a degree of " + std::to_string(given) + " is below 1");
    if (given != 1) return given;
    return is_auto || contains(named, word) ? 0 : 1;
  };
  const Parallel& p = configuration.parallel;
  return {.dp = degree("data", p.dp),
          .tp = degree("tensor", p.tp),
          .pp = degree("pipeline", p.pp),
          .ep = degree("expert", p.ep),
          .cp = degree("context", p.cp),
          .stages = p.stages};
}

std::optional<fabric::Topology> fabric_of(const ShardPlanning& asked, std::int64_t shards,
                                          const std::vector<std::filesystem::path>& fabrics) {
  if (asked.fabric.empty()) return std::nullopt;
  const fabric::Topology known = fabric::known_fabric(asked.fabric, fabrics);
  if (known.profile == "lite" && shards > lite_shards_max) {
    throw refused(
        "profile lite allows at most 2 shards, and " + std::to_string(shards) + " are asked for",
        "fabric '" + known.id + "'",
        "name a fabric of profile full: halmark fabric show lists them");
  }
  const std::int64_t devices[] = {shards};
  return named_fabric(asked.fabric, "--fabric", devices, fabrics);
}

std::optional<std::int64_t> fillable(const Device& device, const ShardOf& shard,
                                     const ShardPlanning& asked, Phase phase) {
  if (!shard.memory_bytes) return std::nullopt;
  if (!asked.memory_fraction) return usable_bytes(device, *shard.memory_bytes, phase);
  return as_int64(as_double(*shard.memory_bytes) * *asked.memory_fraction);
}

// A share of a device has no tables: null there.
std::shared_ptr<const PricedLatencies> latencies_of(const ShardPlanning& asked,
                                                    const Device& device, const ShardOf& shard,
                                                    const fabric::Topology* joined) {
  if (shard.share.parts > 1) return {};
  return std::make_shared<const PricedLatencies>(priced_latencies(
      {.sources = asked.latency.empty() ? std::vector<std::string>{"roofline"} : asked.latency,
       .where = "--latency",
       .device = device.id,
       .device_where = "--device",
       .engine = asked.engine},
      device, asked.devices, std::nullopt, joined));
}

simulate::OperatorTime times_of(const Device& device, const ShardOf& shard,
                                const std::shared_ptr<const PricedLatencies>& known,
                                const fabric::Topology* joined) {
  return known ? chain_times(known) : shard_times(device, shard, joined);
}

// The planner's choice; in an engine the layout whose whole step is the shortest, of those that fit
// as that one does.
const simulate::PlannedLayout* fastest_in(const std::optional<StepEngine>& engine,
                                          const ModelSpec& spec, const simulate::ShardPlan& plan) {
  const simulate::PlannedLayout* out = plan.chosen();
  if (!engine || out == nullptr) return out;
  const auto whole_ns = [&](const simulate::PlannedLayout& layout) {
    const auto graph = build_graph(spec, layout.configuration);
    const double ns = layout.cost.ns();
    return in_engine(*engine, *graph, {.ns = ns, .low_ns = ns, .high_ns = ns}).ns;
  };
  const bool fits = out->fits;
  double least_ns = whole_ns(*out);
  for (const simulate::PlannedLayout& layout : plan.layouts) {
    if (layout.fits != fits) continue;
    const double ns = whole_ns(layout);
    if (ns < least_ns) std::tie(out, least_ns) = std::pair(&layout, ns);
  }
  return out;
}

void add_stages(std::span<const Device> devices, const ShardPlanning& asked, std::int64_t shards,
                const fabric::Topology* joined, simulate::PlanQuestion& question) {
  const auto stages = as_int(devices.size());
  if (shards % stages != 0 || (question.stated.pp != 0 && question.stated.pp != stages)) {
    throw refused(std::to_string(stages) + " devices are the stages of a pipeline, and " +
                      std::to_string(shards) + " shards cannot be split into that number",
                  "--device", "a multiple of them as --shards, and no other --pp");
  }
  question.stated.pp = stages;
  for (const auto s : indices(devices)) {
    const ShardOf shard = shard_of(devices[s], shards);
    simulate::OperatorTime time =
        times_of(devices[s], shard, latencies_of(asked, devices[s], shard, joined), joined);
    if (joined != nullptr && s + 1 < devices.size()) {
      const std::int64_t in_stage = shards / stages, from = as_int64(s) * in_stage;
      time = over_route(std::move(time), *joined, from, from + in_stage);
    }
    question.stage_devices.push_back(
        {.time = std::move(time),
         .bytes_max = fillable(devices[s], shard, asked, question.base.workload.phase)});
  }
}

}  // namespace

std::int64_t usable_bytes(const Device& device, std::int64_t bytes, Phase phase) {
  if (device.kind != "gpu" || phase == Phase::training) return bytes;
  return as_int64(as_double(bytes) * engine_memory("vllm", device, 1, 0, 0)->share);
}

Parallel fastest_layout(const ModelSpec& spec, const Configuration& configuration,
                        const Device& device, const ShardPlanning& asked,
                        const std::vector<std::filesystem::path>& fabrics) {
  const auto topology = fabric_of(asked, asked.shards, fabrics);
  const fabric::Topology* joined = topology ? &*topology : nullptr;
  const ShardOf shard = shard_of(device, asked.shards);
  simulate::PlanQuestion question{.base = configuration, .shards = asked.shards};
  question.stated = stated_degrees(configuration, asked.strategy);
  question.base.parallel = {};
  question.groups_layers = false;
  question.bytes_max = fillable(device, shard, asked, configuration.workload.phase);
  if (configuration.workload.phase == Phase::training) {
    question.training = TrainingPlan{.gradient = configuration.precision.activation};
  }
  const auto known = latencies_of(asked, device, shard, joined);
  const simulate::ShardPlan plan =
      simulate::plan_shards(spec, question, times_of(device, shard, known, joined));
  const auto around =
      known ? step_engine(*known, spec, configuration.workload.phase) : std::nullopt;
  if (const auto* chosen = fastest_in(around, spec, plan)) return chosen->configuration.parallel;
  throw refused(
      "no layout over " + std::to_string(asked.shards) + " devices is possible: " +
          (plan.tried == 0 ? "the stated degrees do not multiply to them" : plan.first_refusal),
      "--devices", "another number of devices, or another --batch");
}

simulate::PlanAnswer plan_shards(const ModelSpec& spec, const Configuration& configuration,
                                 std::span<const Device> devices, const ShardPlanning& asked,
                                 const std::vector<std::filesystem::path>& fabrics) {
  const bool is_training = configuration.workload.phase == Phase::training;
  if (!is_training && (asked.zero > 0 || asked.sequence_parallel)) {
    throw refused("--zero and --sequence-parallel are of training", "--phase",
                  "add --phase training, or leave them out");
  }
  if (is_training && devices.size() > 1) {
    throw refused("a training step is not planned over devices that differ", "--device",
                  "name one of them");
  }
  const std::int64_t shards =
      asked.shards == 0 ? std::max<std::int64_t>(configuration.devices(), std::ssize(devices))
                        : asked.shards;
  if (shards < 1 || shards > shards_max) {
    throw refused("--shards is " + std::to_string(shards), {}, "give 1 to 65536");
  }
  if (asked.journal != nullptr && devices.size() > 1) {
    throw refused("--journal holds steps of one machine, and several devices are named", "--device",
                  "name one of them");
  }
  const auto topology = fabric_of(asked, shards, fabrics);
  const fabric::Topology* joined = topology ? &*topology : nullptr;
  const Device& device = devices.front();
  const ShardOf shard = shard_of(device, shards);
  simulate::PlanQuestion question{.base = configuration, .shards = shards};
  question.stated = stated_degrees(configuration, asked.strategy);
  question.base.parallel = {};
  question.bytes_max = fillable(device, shard, asked, configuration.workload.phase);
  if (is_training) {
    question.training = TrainingPlan{.zero = asked.zero,
                                     .gradient = configuration.precision.activation,
                                     .sequence_parallel = asked.sequence_parallel};
  }
  if (devices.size() > 1) add_stages(devices, asked, shards, joined, question);
  std::optional<simulate::MeasuredPairs> pairs;
  if (asked.journal != nullptr) {
    const auto steps = measured_steps(*asked.journal, asked.fingerprint, spec);
    question.measured_ns = step_times(steps);
    for (const MeasuredStep& step : steps) {
      const Parallel& parallel = step.configuration.parallel;
      if (!parallel.stages.empty()) question.measured_cuts.push_back(parallel);
    }
    pairs = measured_pairs(spec, steps, [&](std::int64_t of) {
      return shard_times(device, shard_of(device, of), joined);
    });
  }
  const auto known = latencies_of(asked, device, shard, joined);
  simulate::PlanAnswer out =
      answer_plan(spec, question, times_of(device, shard, known, joined), joined, pairs);
  if (known && !known->chain.has_only(SourceKind::roofline)) out.basis = known->sources;
  for (const Device& d : devices) append_item(out.device, ", ", d.id);
  if (joined != nullptr) out.fabric = joined->id;
  return out;
}

}  // namespace halmark::tune
