#include "model/serving/serving_space.hpp"

#include <algorithm>

#include "model/graph/graph.hpp"

namespace halmark {

namespace {

bool is_possible(const ModelSpec& spec, const ServingSpace& space, const Parallel& parallel) {
  const std::int64_t batch = std::int64_t{parallel.dp} * parallel.pp;
  return std::ranges::any_of(space.precisions, [&](const Precision& precision) {
    return !check_configuration(
        spec, {spec.id, parallel, precision, {.batch = batch, .routing_skew = space.routing_skew}});
  });
}

std::vector<int> divisors(std::int64_t number, bool is_wanted) {
  std::vector<int> out;
  for (std::int64_t d = 1; d <= (is_wanted ? number : 1); ++d) {
    if (number % d == 0) out.push_back(static_cast<int>(d));
  }
  return out;
}

// One replica of one stage on `devices` devices.
std::vector<Parallel> worker_layouts(const ModelSpec& spec, const ServingSpace& space,
                                     int devices) {
  std::vector<Parallel> out;
  if (devices > 1 && !space.has_tensor) return out;
  for (const int ep : {1, devices}) {
    const Parallel parallel{.tp = devices, .ep = ep};
    const bool is_known = !out.empty() && out.back() == parallel;
    if (is_known || (ep > 1 && !(spec.moe && space.has_expert))) continue;
    if (is_possible(spec, space, parallel)) out.push_back(parallel);
  }
  return out;
}

struct Worker {
  Parallel prefill, decode;
  int prefill_workers = 0, decode_workers = 0;
};

std::vector<Worker> worker_splits(const ModelSpec& spec, const ServingSpace& space,
                                  std::int64_t devices) {
  std::vector<std::vector<Parallel>> layouts(static_cast<std::size_t>(devices) + 1);
  for (std::int64_t n = 1; n < devices; ++n) {
    layouts[static_cast<std::size_t>(n)] = worker_layouts(spec, space, static_cast<int>(n));
  }
  std::vector<Worker> out;
  for (std::int64_t of_prefill = 1; of_prefill < devices; ++of_prefill) {
    const std::int64_t of_decode = devices - of_prefill;
    for (const int one_prefill : divisors(of_prefill, true)) {
      for (const int one_decode : divisors(of_decode, true)) {
        for (const Parallel& prefill : layouts[static_cast<std::size_t>(one_prefill)]) {
          for (const Parallel& decode : layouts[static_cast<std::size_t>(one_decode)]) {
            out.push_back({prefill, decode, static_cast<int>(of_prefill / one_prefill),
                           static_cast<int>(of_decode / one_decode)});
          }
        }
      }
    }
  }
  return out;
}

}  // namespace

std::vector<Parallel> serving_layouts(const ModelSpec& spec, const ServingSpace& space,
                                      std::int64_t devices) {
  std::vector<Parallel> out;
  for (const int tp : divisors(devices, space.has_tensor)) {
    for (const int pp : divisors(devices / tp, space.has_pipeline)) {
      const auto dp = static_cast<int>(devices / tp / pp);
      if (dp > 1 && !space.has_data) continue;
      for (const int ep : divisors(std::int64_t{dp} * tp, spec.moe && space.has_expert)) {
        const Parallel parallel{.dp = dp, .tp = tp, .pp = pp, .ep = ep};
        if (is_possible(spec, space, parallel)) out.push_back(parallel);
      }
    }
  }
  return out;
}

std::vector<Configuration> served_configurations(const ModelSpec& spec, const ServingSpace& space) {
  std::vector<Configuration> out;
  for (const std::int64_t devices : space.devices) {
    const bool has_aggregated =
        std::ranges::find(space.modes, ServingMode::aggregated) != space.modes.end();
    const bool has_apart =
        std::ranges::find(space.modes, ServingMode::disaggregated) != space.modes.end();
    const auto layouts =
        has_aggregated ? serving_layouts(spec, space, devices) : std::vector<Parallel>{};
    const auto splits = has_apart ? worker_splits(spec, space, devices) : std::vector<Worker>{};
    Configuration one{.model = spec.id,
                      .parallel = {},
                      .precision = {},
                      .workload = {.routing_skew = space.routing_skew},
                      .served = ServedLoad{.request = space.request}};
    ServedLoad& load = *one.served;
    // Neighbours in the list have most in common: who prices in order finds it at hand.
    const auto list_loads = [&](std::int64_t parts) {
      for (const std::int64_t concurrency : space.concurrency) {
        if (concurrency % parts != 0) continue;
        load.concurrency = concurrency;
        for (const std::int64_t budget : space.token_budgets) {
          load.token_budget = budget;
          out.push_back(one);
        }
      }
    };
    for (const Precision& precision : space.precisions) {
      one.precision = precision;
      load.mode = ServingMode::aggregated;
      load.prefill = {};
      load.prefill_workers = load.decode_workers = 0;
      for (const Parallel& parallel : layouts) {
        one.parallel = parallel;
        list_loads(std::int64_t{parallel.dp} * parallel.pp);
      }
      load.mode = ServingMode::disaggregated;
      for (const Worker& split : splits) {
        one.parallel = split.decode;
        load.prefill = split.prefill;
        load.prefill_workers = split.prefill_workers;
        load.decode_workers = split.decode_workers;
        list_loads(1);
      }
    }
  }
  return out;
}

}  // namespace halmark
