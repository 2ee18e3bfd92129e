#include "cli/served_search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/console/facts.hpp"
#include "core/error.hpp"
#include "model/pricing/kernel_table.hpp"
#include "model/serving/serving_pricer.hpp"
#include "model/serving/serving_space.hpp"
#include "search/pareto/pareto.hpp"

namespace halmark::cli {

namespace {

constexpr std::size_t nearest_max = 20;

bool wants(const Sweep& sweep, const char* strategy) {
  return std::ranges::find(sweep.strategies, strategy) != sweep.strategies.end();
}

ServingSpace space_of(const Sweep& sweep, const PrecisionFacts& facts) {
  ServingSpace out{.request = sweep.served->request,
                   .concurrency = sweep.served->concurrency,
                   .token_budgets = sweep.served->token_budgets,
                   .modes = sweep.served->modes,
                   .precisions = precisions_of(sweep, facts),
                   .devices = sweep.shards,
                   .has_data = wants(sweep, "data"),
                   .has_tensor = wants(sweep, "tensor"),
                   .has_pipeline = wants(sweep, "pipeline"),
                   .has_expert = wants(sweep, "expert"),
                   .routing_skew = sweep.routing_skew};
  for (std::vector<std::int64_t>* list : {&out.concurrency, &out.token_budgets, &out.devices}) {
    std::ranges::sort(*list);
    list->erase(std::ranges::unique(*list).begin(), list->end());
  }
  return out;
}

// A figure that nobody states can be no objective and no limit.
void require_figures(const Sweep& sweep, const Device& device) {
  const auto check = [&](ServingObjective objective, const std::string& where) {
    if (objective == ServingObjective::energy && !device.power_w) {
      throw refused("device " + device.id + " states no power for energy", where,
                    "leave energy out, or name a device file with power_w");
    }
    if (objective == ServingObjective::cost && !sweep.serving_devices.usd_per_device_hour) {
      throw refused("cost is wanted, but no price is given", where, "add usd_per_device_hour");
    }
  };
  for (const ServingObjective o : sweep.served->objectives) check(o, sweep.file);
  for (const ServiceLevel& level : sweep.served->levels) check(level.objective, level.where);
}

// One step of each kind, operator by operator: where their times are from.
void explain(ServedPoint& point, const ModelSpec& spec, const PricedLatencies& latencies,
             std::int64_t decode_context) {
  const Configuration& d = point.configuration;
  const ServedLoad& load = *d.served;
  const bool is_aggregated = load.mode == ServingMode::aggregated;
  const std::int64_t parts = std::int64_t{d.parallel.dp} * d.parallel.pp;
  const std::int64_t sequences =
      is_aggregated
          ? load.concurrency
          : std::max<std::int64_t>(1, load.concurrency / std::max(1, load.decode_workers));
  const std::int64_t tokens = std::min(load.token_budget, load.request.input_tokens);
  const Configuration steps[] = {
      {spec.id,
       d.parallel,
       d.precision,
       {Phase::decode, sequences, 1, decode_context, d.workload.routing_skew}},
      {spec.id,
       is_aggregated ? d.parallel : load.prefill,
       d.precision,
       {Phase::prefill, is_aggregated ? parts : 1, tokens, tokens, d.workload.routing_skew}}};
  double largest = 0, total = 0;
  for (const Configuration& step : steps) {
    auto built = build_graph(spec, step);
    const auto* graph = std::get_if<OperatorGraph>(&built);
    if (graph == nullptr) continue;
    for (const Operator& op : graph->operators) {
      const auto latency = latencies.chain.latency(op.local, op.local_work);
      if (!latency) continue;
      const double ns = static_cast<double>(op.count) * latency->ns;
      point.provenance[latency->provenance] += ns;
      total += ns;
      if (step.workload.phase != Phase::decode || ns <= largest) continue;
      largest = ns;
      point.bottleneck = op.name;
    }
  }
  for (auto& [provenance, share] : point.provenance) share /= total;
}

struct Found {
  std::size_t index = 0;
  ServedEstimate estimate;
};

Objectives minimised(const ServingFigures& figures, std::span<const ServingObjective> objectives) {
  Objectives out;
  for (const ServingObjective o : objectives) {
    const double value = serving_value(figures, o).value_or(INFINITY);
    out.push_back(is_maximised(o) ? -value : value);
  }
  return out;
}

double factor(const ServiceViolation& v) {
  return v.value > v.limit ? v.value / v.limit : v.limit / v.value;
}

void keep_nearest(std::vector<MissedPoint>& nearest, MissedPoint point) {
  const auto is_nearer = [](const MissedPoint& a, const MissedPoint& b) {
    return factor(a.violations.front()) < factor(b.violations.front());
  };
  if (nearest.size() == nearest_max && !is_nearer(point, nearest.back())) return;
  nearest.insert(std::ranges::upper_bound(nearest, point, is_nearer), std::move(point));
  if (nearest.size() > nearest_max) nearest.pop_back();
}

}  // namespace

ServedReport search_served(const Sweep& sweep, const Device& device,
                           const PricedLatencies& latencies) {
  const auto begin = std::chrono::steady_clock::now();
  const ModelSpec spec = load_model(sweep.model, config_dirs("models"));
  if (sweep.routing_skew != 0 && !spec.moe) {
    throw refused("routing_skew is given, but " + spec.id + " has no experts",
                  sweep.routing_skew_where, "leave it out, or name a mixture of experts");
  }
  require_figures(sweep, device);
  const ServedSweep& load = *sweep.served;
  ServedReport out;
  out.title = sweep.name;
  out.model = spec.id;
  out.request = load.request;
  out.objectives = load.objectives;
  out.levels = load.levels;

  StepPricer steps(
      spec,
      [&](const Operator& op) {
        return kernel_time(latencies.chain.latency(op.local, op.local_work));
      },
      &device, sweep.routing_skew);
  const double memory = static_cast<double>(device.memory_bytes);
  ServingPricer pricer(
      spec, steps, load.request,
      {.memory_bytes = static_cast<std::int64_t>(memory * sweep.serving_devices.memory_fraction),
       .power_w = device.power_w,
       .usd_per_device_hour = sweep.serving_devices.usd_per_device_hour,
       .transfer_bytes_per_s = latencies.transfer_bytes_per_s,
       .peaks = &device,
       .has_interval = latencies.chain.has_interval()});
  const std::vector<Configuration> all =
      served_configurations(spec, space_of(sweep, precision_facts(spec, computes_bf16(device))));
  if (all.empty()) {
    throw refused("no configuration of this sweep is possible", sweep.file,
                  "the model splits into no layout of so many shards that divides a concurrency");
  }
  out.configurations = all.size();
  std::vector<Found> found;
  std::vector<Objectives> points;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto answer = pricer.estimate(all[i]);
    if (const auto* refusal = std::get_if<Refusal>(&answer)) {
      if (++out.refused[refusal->reason] == 1) {
        out.examples[refusal->reason] = all[i].key() + ": " + refusal->text;
      }
      continue;
    }
    ServedEstimate& estimate = std::get<ServedEstimate>(answer);
    if (auto missed = violations(estimate.figures, load.levels); !missed.empty()) {
      ++out.missed;
      ++out.missed_by[missed.front().objective];
      keep_nearest(out.nearest, {all[i], estimate, std::move(missed)});
      continue;
    }
    points.push_back(minimised(estimate.figures, load.objectives));
    found.push_back({i, estimate});
  }
  std::vector<std::size_t> front = non_dominated(points);
  std::ranges::stable_sort(front, {}, [&](std::size_t k) { return points[k]; });
  out.priced_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (const std::size_t k : front) {
    out.front.push_back({.configuration = all[found[k].index],
                         .estimate = found[k].estimate,
                         .provenance = {},
                         .bottleneck = {}});
    explain(out.front.back(), spec, latencies, pricer.decode_context());
  }
  return out;
}

}  // namespace halmark::cli
