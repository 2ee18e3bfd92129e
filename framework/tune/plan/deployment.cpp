#include "tune/plan/deployment.hpp"

#include <algorithm>

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

// The decode step of all sequences at their end: weights and cache of the fullest rank.
RankBytes rank_bytes(const ModelSpec& spec, const Evaluation& e) {
  const Configuration& c = e.configuration;
  const Admission admission = admission_of(c);
  Configuration step = c;
  step.served.reset();
  step.workload.phase = Phase::decode;
  step.workload.batch = admission.sequences;
  step.workload.new_tokens = 1;
  step.workload.context = admission.longest;
  step.workload.micro_batch = 0;
  auto built = build_graph(spec, step);
  RankBytes out;
  if (const auto* graph = built.get()) {
    const RankMemory largest = memory_use(*graph).largest;
    out.weights = largest.weight_bytes;
    out.cache = largest.kv_bytes;
  }
  const std::int64_t total = e.served     ? e.served->figures.memory_bytes_per_rank
                             : e.estimate ? e.estimate->memory_bytes_per_rank
                                          : 0;
  out.activations = std::max<std::int64_t>(0, total - out.weights - out.cache);
  return out;
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
  return out;
}

}  // namespace halmark::tune
