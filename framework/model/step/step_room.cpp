#include "model/step/step_room.hpp"

#include <algorithm>
#include <array>

namespace halmark {
namespace {

constexpr std::int64_t usual_context = 8192, devices_max = 1024, most = std::int64_t{1} << 40;

bool fits(const ModelSpec& spec, const Configuration& configuration, const Device& device) {
  const auto built = build_graph(spec, configuration);
  const OperatorGraph* graph = built.get();
  return graph != nullptr && fit_of(*graph, memory_use(*graph), device).is_usable();
}

// The largest number up to `limit` that holds; what holds for a number holds for all below.
template <class Holds>
std::int64_t largest(std::int64_t limit, Holds&& holds) {
  std::int64_t low = 0, high = 1;
  while (high <= limit && holds(high)) {
    low = high;
    high *= 2;
  }
  high = std::min(high, limit + 1);
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

std::optional<StepRoom> room_of(const PricedStep& step) {
  const auto fit = step.is_training() ? std::nullopt : fit_of(step);
  if (!fit || !fit->device_bytes || !fit->is_usable()) return std::nullopt;
  const ModelSpec& spec = step.graph.spec;
  const std::int64_t cache = step.memory.largest.kv_bytes;
  StepRoom out{.cache_bytes = fit->engine ? fit->engine->may_use_bytes - fit->engine->needed_bytes
                                          : -fit->needed_bytes + *fit->device_bytes,
               .context = std::min(usual_context, spec.max_position.value_or(usual_context))};
  out.cache_bytes += cache;
  Configuration c = step.graph.configuration;
  c.workload = {.phase = Phase::decode, .new_tokens = 1, .context = out.context};
  const std::int64_t replicas = std::int64_t{c.parallel.dp} * c.parallel.pp;
  if (step.memory.kv_bytes_per_token + step.memory.state_bytes_per_sequence == 0) return out;
  out.sequences = replicas * largest(devices_max * devices_max, [&](std::int64_t of_replica) {
                    c.workload.batch = replicas * of_replica;
                    return fits(spec, c, *step.device);
                  });
  return out;
}

std::optional<Parallel> least_layout(const PricedStep& step) {
  Configuration c = step.graph.configuration;
  for (int n = 1; n <= devices_max; n *= 2) {
    for (int stages = 1; stages <= n; stages *= 2) {
      const int tp = n / stages;
      for (const Parallel& parallel : std::array<Parallel, 2>{
               {{.tp = tp, .pp = stages}, {.tp = tp, .pp = stages, .ep = tp}}}) {
        c.parallel = parallel;
        if (fits(step.graph.spec, c, *step.device)) return parallel;
      }
    }
  }
  return std::nullopt;
}

std::optional<LongestContext> longest_context(const ModelSpec& spec,
                                              const Configuration& configuration,
                                              const Device& device) {
  if (device.memory_bytes <= 0 && !spec.max_position) return std::nullopt;
  Configuration c = configuration;
  const std::int64_t limit = spec.max_position.value_or(most);
  const std::int64_t tokens = largest(limit, [&](std::int64_t context) {
    c.workload.context = context;
    return fits(spec, c, device);
  });
  return LongestContext{.tokens = tokens, .is_memory = tokens < limit};
}

}  // namespace halmark
