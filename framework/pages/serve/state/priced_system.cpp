#include "pages/serve/state/priced_system.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "model/pricing/kernel_table.hpp"
#include "model/training/training.hpp"
#include "plan/device/device_file.hpp"
#include "plan/precision.hpp"
#include "simulate/sharding/planner.hpp"
#include "tune/evaluate/step/placed_latencies.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/plan/named_fabric.hpp"
#include "tune/shards/shard_planning.hpp"
#include "tune/sources/served_engine.hpp"

namespace halmark::pages {
namespace {

constexpr std::string_view too_large = "out of memory";

Device device_of(const std::string& id, const PageSources& sources) {
  if (sources.here && id == sources.here->id) return *sources.here;
  return known_device(id, sources.devices);
}

tune::Target target_of(const PageState& state, const PageSources& sources) {
  tune::Target out;
  Device device = device_of(state.device, sources);
  out.backend = device.id;
  out.memory_bytes = device.memory_bytes;
  if (device.is_measured) out.measured = device;
  out.datasheet = std::move(device);
  out.fabric = tune::named_fabric(state.fabric, "fabric", {}, sources.fabrics);
  return out;
}

tune::PricedLatencies latencies_of(const PageState& state, const tune::Target& target,
                                   const PageSources& sources) {
  tune::LatencyChoice choice;
  const bool is_default = sources.latency.empty() || sources.latency == tune::default_sources();
  choice.sources = sources.latency;
  if (sources.latency.empty() || (is_default && state.phase == Phase::training)) {
    choice.sources = tune::sources_or_default({}, true);
  }
  choice.where = "--latency";
  choice.device = target.datasheet->id;
  return tune::priced_latencies(choice, *target.datasheet, sources.devices, std::nullopt,
                                target.fabric ? &*target.fabric : nullptr);
}

const Parallel any_degrees = {.dp = 0, .tp = 0, .pp = 0, .ep = 0, .cp = 1};

bool is_faster(const PricedLayout& a, const PricedLayout& b) {
  if (a.price.has_value() != b.price.has_value()) return a.price.has_value();
  if (a.price && a.price->step_ns != b.price->step_ns) {
    return a.price->step_ns < b.price->step_ns;
  }
  return a.parallel < b.parallel;
}

std::string memory_text(std::int64_t needed, std::int64_t usable, std::int64_t has) {
  const auto gib = [](std::int64_t bytes) {
    const auto tenths = as_int64(as_double(bytes) / (1 << 30) * 10);
    return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + " GiB";
  };
  return std::string(too_large) + ": a rank needs " + gib(needed) + ", and the device has " +
         gib(has) + (usable < has ? ", of which an engine takes " + gib(usable) : "");
}

}  // namespace

const char* more_room(const PageState& state) {
  return state.phase == Phase::training
             ? "choose more shards, a higher ZeRO stage, more recomputation or a smaller batch"
             : "choose more shards, a smaller batch or narrower types";
}

PricedSystem::PricedSystem(const PageState& state, const PageSources& sources)
    : spec_(load_model(state.model, sources.models)), target_(target_of(state, sources)) {
  latencies_.emplace(latencies_of(state, target_, sources));
  begin_pricing();
}

void PricedSystem::begin_pricing() {
  pricer_ = std::make_unique<StepPricer>(
      spec_, [this](const Operator& op) { return kernel_time(tune::latency_of(chain(), op)); },
      &*target_.datasheet, Workload::even_routing);
  priced_ = 0;
}

Precision PricedSystem::precision(const PageState& state) const {
  NamedEngine engine;
  if (state.served_by) {
    engine = state.served_by->empty() ? latencies_->engine : parse_engine(*state.served_by);
  }
  return precision_of(state.dtype, tune::served_facts(spec_, device(), engine));
}

PricedLayout PricedSystem::priced(const PageState& state, const Parallel& parallel,
                                  std::int64_t batch) {
  PricedLayout out{.parallel = parallel, .batch = batch};
  const StepPricer::Layout layout = pricer_->layout(parallel, precision(state));
  if (const auto& refusal = pricer_->refusal(layout)) {
    out.reason = refusal->text;
    return out;
  }
  const std::int64_t parts = std::int64_t{parallel.dp} * parallel.pp;
  if (batch % parts != 0) {
    out.reason = "a batch of " + std::to_string(batch) +
                 " does not divide by dp x pp = " + std::to_string(parts);
    return out;
  }
  // As memory_use counts them: the cache of all sequences of a replica, one micro-batch at work.
  const std::int64_t at_work = batch / parts;
  for (const StageMemory& stage : pricer_->stage_memory(layout, state.context)) {
    const std::int64_t rows = stage.has_head ? at_work : 0;  // activations have one
    const std::int64_t more_logits = (rows - 1) * spec_.vocab * 4 / parallel.tp;
    const std::int64_t rank = stage.weight_bytes + more_logits +
                              batch / parallel.dp * stage.kv_bytes_per_sequence +
                              pricer_->activation_bytes(layout, at_work * state.new_tokens);
    out.bytes_per_rank = std::max(out.bytes_per_rank, rank);
  }
  if (const auto most = bytes_max(state); most && out.bytes_per_rank > *most) {
    out.reason = memory_text(out.bytes_per_rank, *most, target_.memory_bytes);
    return out;
  }
  out.price = pricer_->price(layout, state.phase, batch, state.new_tokens, state.context);
  if (!out.price) out.reason = device().id + " states no figure that a kernel needs";
  return out;
}

std::vector<PricedLayout> PricedSystem::layouts(const PageState& state) {
  if (state.phase == Phase::training || !spec_.is_causal) return planned_layouts(state);
  std::vector<PricedLayout> out;
  if (priced_ > layouts_kept_max) begin_pricing();
  for (const Parallel& parallel :
       simulate::layouts_of(state.shards, any_degrees, spec_.moe.has_value(), false)) {
    ++priced_;
    out.push_back(priced(state, parallel, state.batch));
  }
  std::ranges::sort(out, is_faster);
  return out;
}

std::optional<std::int64_t> PricedSystem::bytes_max(const PageState& state) const {
  if (target_.memory_bytes <= 0) return std::nullopt;
  return tune::usable_bytes(device(), target_.memory_bytes, state.phase);
}

Configuration PricedSystem::base(const PageState& state) const {
  Configuration out{.model = spec_.id,
                    .precision = precision(state),
                    .workload = {.phase = state.phase,
                                 .batch = state.batch,
                                 .new_tokens = state.new_tokens,
                                 .context = state.context}};
  if (state.training.micro_batch) out.workload.micro_batch = *state.training.micro_batch;
  return out;
}

// Passes and gradients, and models that never decode, by the planner of shards: its sum over the
// slowest stage orders them.
std::vector<PricedLayout> PricedSystem::planned_layouts(const PageState& state) const {
  const bool is_training = state.phase == Phase::training;
  simulate::PlanQuestion question{.base = base(state), .shards = state.shards};
  question.stated.cp = 1;
  if (is_training) question.training = training_plan(state.training, question.base.precision);
  question.groups_layers = false;
  question.bytes_max = bytes_max(state);
  const simulate::ShardPlan plan =
      simulate::plan_shards(spec_, question, [this](const Operator& op) -> std::optional<double> {
        const auto latency = tune::latency_of(chain(), op);
        return latency ? std::optional(latency->ns) : std::nullopt;
      });
  std::vector<PricedLayout> out;
  const double tokens =
      as_double(state.batch) * as_double(is_training ? state.context : state.new_tokens);
  for (const simulate::PlannedLayout& layout : plan.layouts) {
    PricedLayout one{.parallel = layout.configuration.parallel,
                     .batch = state.batch,
                     .bytes_per_rank = layout.largest.total()};
    const double ns = is_training ? layout.cost.alone_ns : layout.cost.ns();
    if (layout.fits) {
      one.price = Price{.step_ns = ns, .low_ns = ns, .high_ns = ns};
      one.price->tokens_per_s = tokens / ns * 1e9;
    } else {
      one.reason = memory_text(one.bytes_per_rank, *question.bytes_max, target_.memory_bytes);
    }
    out.push_back(std::move(one));
  }
  if (out.empty()) out.push_back({.batch = state.batch, .reason = plan.first_refusal});
  std::ranges::stable_sort(out, is_faster);
  return out;
}

Configuration PricedSystem::configuration(const PageState& state) { return chosen(state, false); }

Configuration PricedSystem::shown_configuration(const PageState& state) {
  return chosen(state, true);
}

Configuration PricedSystem::chosen(const PageState& state, bool takes_too_large) {
  Configuration out = base(state);
  if (state.strategy) {
    out.parallel = *state.strategy;
    return out;
  }
  std::vector<PricedLayout> all = layouts(state);
  if (takes_too_large && !all.empty() && !all.front().price) {
    std::erase_if(all, [](const PricedLayout& one) { return !one.reason.starts_with(too_large); });
    std::ranges::stable_sort(all, {}, &PricedLayout::bytes_per_rank);
    if (!all.empty()) {
      out.parallel = all.front().parallel;
      return out;
    }
    all = layouts(state);
  }
  if (all.empty() || !all.front().price) {
    const std::string why = all.empty() ? "" : all.front().reason;
    throw refused("no layout of " + std::to_string(state.shards) +
                      " devices is possible for a batch of " + std::to_string(state.batch) +
                      (why.empty() ? "" : ": " + why),
                  {}, why.starts_with(too_large) ? more_room(state) : "");
  }
  out.parallel = all.front().parallel;
  return out;
}

}  // namespace halmark::pages
