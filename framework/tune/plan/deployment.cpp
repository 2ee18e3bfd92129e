#include "tune/plan/deployment.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "model/pricing/memory.hpp"
#include "model/spec/model_spec.hpp"
#include "plan/device/device_file.hpp"
#include "plan/precision.hpp"
#include "tune/plan/known_plan.hpp"

namespace halmark::tune {
namespace {

// The folder of a configuration that was named by its path.
std::string checkpoint_of(const ModelSpec& spec) {
  const std::filesystem::path path(spec.checkpoint);
  return path.extension() == ".json" ? path.parent_path().string() : spec.checkpoint;
}

// A decode step of `sequences` of `context` tokens: the fullest rank; nothing where there is none.
std::optional<RankMemory> rank_memory(const ModelSpec& spec, const Configuration& c,
                                      std::int64_t sequences, std::int64_t context) {
  Configuration step = c;
  step.served.reset();
  step.workload.phase = Phase::decode;
  step.workload.batch = sequences;
  step.workload.new_tokens = 1;
  step.workload.context = context;
  step.workload.micro_batch = 0;
  auto built = build_graph(spec, step);
  const auto* graph = built.get();
  if (graph == nullptr) return std::nullopt;
  return memory_use(*graph).largest;
}

// With all sequences at their end: weights and cache of the fullest rank.
RankBytes rank_bytes(const ModelSpec& spec, const Evaluation& e) {
  const Admission admission = admission_of(e.configuration);
  RankBytes out;
  if (const auto largest =
          rank_memory(spec, e.configuration, admission.sequences, admission.longest)) {
    out.weights = largest->weight_bytes;
    out.cache = largest->kv_bytes;
  }
  const std::int64_t total = e.served     ? e.served->figures.memory_bytes_per_rank
                             : e.estimate ? e.estimate->memory_bytes_per_rank
                                          : 0;
  out.activations = std::max<std::int64_t>(0, total - out.weights - out.cache);
  return out;
}

// Engines refuse to start where one sequence of the model's length has no room.
std::optional<std::int64_t> room_tokens(const ModelSpec& spec, const Deployment& d) {
  constexpr std::int64_t step = 1024;
  if (!spec.max_position || d.device_bytes <= 0) return std::nullopt;
  const Configuration& c = d.configuration();
  const auto largest = rank_memory(spec, c, c.parallel.dp * c.parallel.pp, *spec.max_position);
  if (!largest || largest->kv_bytes <= 0) return std::nullopt;
  const double room = d.memory_fraction * as_double(d.device_bytes) -
                      as_double(d.rank.weights + d.rank.activations);
  const double share = room / as_double(largest->kv_bytes);
  if (share >= 1) return std::nullopt;
  const auto tokens = as_int64(share * as_double(*spec.max_position));
  return std::max(tokens / step * step, admission_of(c).longest);
}

// Searches keep where their times are from in lines; a measured estimate has it itself.
std::string provenance_of(const SearchedFront& front, const Evaluation& e) {
  if (e.estimate) return std::string(provenance_name(e.estimate->provenance));
  for (const std::string& line : front.basis) {
    if (line.starts_with("times: ")) return line.substr(7);
  }
  return "of the search";
}

}  // namespace

Deployment deployment_of(const SearchedFront& front, std::size_t number,
                         const std::string& checkpoint,
                         const std::vector<std::filesystem::path>& models,
                         const std::vector<std::filesystem::path>& devices) {
  if (number < 1 || number > front.points.size()) {
    throw refused("there is no point " + std::to_string(number), front.origin,
                  "it has points 1 to " + std::to_string(front.points.size()));
  }
  const ModelSpec spec = load_model(front.model, models);
  Deployment out{.point = front.points[number - 1],
                 .point_name = "point " + std::to_string(number) + " of " +
                               std::to_string(front.points.size()) + " of " + front.origin,
                 .command = front.command,
                 .provenance = provenance_of(front, front.points[number - 1]),
                 .forecast_engine = front.engine,
                 .checkpoint = checkpoint.empty() ? checkpoint_of(spec) : checkpoint,
                 .is_checkpoint_named = !checkpoint.empty(),
                 .model_names = spec.names,
                 .is_moe = spec.moe.has_value(),
                 .memory_fraction = front.memory_fraction};
  const PrecisionFacts facts = precision_facts(spec, true);
  if (facts.packed) out.stored = precision_of(checkpoint_recipe, facts);
  if (!front.device.empty()) {
    const Device device = known_device(front.device, devices);
    out.device = device.id;
    out.device_name = device.name;
    out.device_bytes = device.memory_bytes;
    for (const Link& link : device.links) {
      if (link.domain_devices) out.domain_devices = link.domain_devices;
    }
  }
  out.rank = rank_bytes(spec, out.point);
  out.levels = front.levels;
  out.model_tokens = spec.max_position;
  out.room_tokens = room_tokens(spec, out);
  return out;
}

}  // namespace halmark::tune
