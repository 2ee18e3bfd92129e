// Both plans refuse before anything is opened.
#include "tune/plan/known_plan.hpp"

#include <algorithm>
#include <sstream>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "model/pricing/memory.hpp"
#include "plan/device/device_file.hpp"
#include "simulate/serving/fitted_terms.hpp"
#include "simulate/sharding/planner.hpp"

namespace halmark::tune {
namespace {

Target priced_target(const Sweep& sweep, Device device) {
  const double usable = as_double(device.memory_bytes) * sweep.serving_devices.memory_fraction;
  Target out;
  out.backend = device.id;
  out.datasheet = std::move(device);
  out.memory_bytes = as_int64(usable);
  return out;
}

// Where the sweep states none: one on a device that cannot be cut as a CPU can, and also what fills
// two and more nodes.
std::vector<std::int64_t> shard_counts_on(const Target& target, const Sweep& sweep) {
  if (target.nodes == 0) return shard_counts(sweep, target.is_apart ? 1 : target.cores);
  std::vector<std::int64_t> out =
      shard_counts(sweep, std::min(target.cores, target.ranks_per_node));
  if (!sweep.shards.empty()) return out;
  for (int n = 2; n <= target.nodes; ++n) out.push_back(n * target.ranks_per_node);
  return out;
}

// Whether some layout over all of the devices has room for one request at its end.
bool holds_a_request(const ModelSpec& spec, const AskedSweep& asked, const Device& device,
                     const Precision& precision) {
  constexpr Parallel any = {.dp = 0, .tp = 0, .pp = 0, .ep = 0, .cp = 0};
  const double may_use = as_double(device.memory_bytes) * ServingDevices{}.memory_fraction;
  Configuration c{.model = spec.id, .precision = precision};
  for (const Parallel& parallel :
       simulate::layouts_of(asked.devices, any, spec.moe.has_value(), false)) {
    c.parallel = parallel;
    c.workload = {Phase::decode, parallel.dp * parallel.pp, 1,
                  asked.input_tokens + asked.output_tokens};
    const auto built = build_graph(spec, c);
    if (const auto* graph = built.get()) {
      if (as_double(memory_use(*graph).largest.total()) <= may_use) return true;
    }
  }
  return false;
}

// What its formulas do not know.
void refuse_certify(const Sweep& sweep) {
  if (sweep.sampler != certify_sampler) return;
  if (!sweep.shards_on.empty()) {
    throw refused("certify proves what lies on one device", sweep.shards_on_where,
                  "take another sampler, or leave shards_on out");
  }
  if (!contains(sweep.objectives, Objective::energy)) return;
  throw refused("certify proves times, and energy is metered", sweep.file,
                "take another sampler, or leave energy out");
}

}  // namespace

PrecisionFacts precision_facts(const ModelSpec& spec, bool has_bf16) {
  PrecisionFacts out{.has_bf16 = has_bf16,
                     .stored = spec.stored_dtype,
                     .unread = spec.unread_quantization,
                     .has_experts = spec.moe.has_value(),
                     .named = spec.named_precision};
  if (!spec.quantization) return out;
  const Quantization& stated = *spec.quantization;
  out.kv_cache = stated.kv_cache;
  if (stated.kinds.empty()) return out;
  out.packed = stated.kinds;
  out.weights = stated.weights;
  out.format = stated.format;
  out.quantizes_inputs = stated.quantizes_inputs;
  return out;
}

PrecisionFacts precision_facts(const ModelSpec& spec, const Device& device) {
  PrecisionFacts out = precision_facts(spec, computes_bf16(device));
  out.in_place_of_bf16 = in_place_of_bf16(device);
  return out;
}

PrecisionFacts served_facts(const ModelSpec& spec, const Device& device,
                            const NamedEngine& engine) {
  PrecisionFacts out = precision_facts(spec, device);
  if (!engine.name.empty() && engine.name != no_engine) {
    out.served_cache = serving::served_cache(engine, spec, device);
  }
  return out;
}

std::string cache_line(const Precision& precision, const PrecisionFacts& facts,
                       const NamedEngine& engine) {
  const bool is_engines =
      facts.served_cache && !facts.kv_cache &&
      precision.name.ends_with("+kv_cache=" + std::string(dtype_name(*facts.served_cache)));
  if (!is_engines) return {};
  return "cache: keys and values in " + std::string(dtype_name(precision.kv_cache)) +
         ", as launch scripts of " + engine.name +
         " ask for beside such weights; +kv_cache=bf16 behind --dtype keeps 16 bits";
}

void require_requests(const ModelSpec& spec) {
  if (spec.is_causal && !spec.encoder) return;
  throw refused(
      spec.id +
          (spec.encoder ? " has an encoder beside its decoder" : " has no cache to decode from") +
          ": requests of prompts and answers are not priced for it",
      {}, "halmark model prices its steps: --phase prefill");
}

void require_context(const ModelSpec& spec, std::int64_t input_tokens, std::int64_t output_tokens) {
  require_requests(spec);
  if (const auto refusal = check_context(spec, input_tokens + output_tokens)) {
    throw refused(refusal->reason + ": " + refusal->text, "--input and --output",
                  "prompt and answer within what " + spec.id + " was made for");
  }
}

Device asked_device(AskedSweep& asked, const Folders& models, const Folders& devices) {
  if (asked.device.find(',') != std::string::npos && !std::filesystem::exists(asked.device)) {
    std::istringstream words(asked.device);
    std::string names;
    for (std::string name; std::getline(words >> std::ws, name, ',');) {
      if (!name.empty()) names += name + ' ';
    }
    throw refused("a search is on one device, and '" + printable(asked.device) + "' is a list",
                  "--device", "halmark compare-devices " + names + "--model " + asked.model);
  }
  const ModelSpec spec = load_model(asked.model, models);
  require_context(spec, asked.input_tokens, asked.output_tokens);
  Device device = known_device(asked.device, devices);
  const PrecisionFacts facts = precision_facts(spec, device);
  const bool states_any = facts.packed || facts.kv_cache || !facts.named.empty();
  if (states_any) asked.stated = precision_of(checkpoint_recipe, facts).name;
  const auto fits = [&](const std::string& name) {
    return holds_a_request(spec, asked, device, precision_of(name, facts));
  };
  const bool is_wide = !facts.packed || dtype_bits(facts.weights) >= 8;
  if (is_wide && asked.dtypes.empty() &&
      std::ranges::none_of(usual_precisions(asked, device), fits)) {
    asked.narrow = "w4a16";
  }
  return device;
}

void require_model(const std::string& word, const Folders& models, const Folders& sweeps) {
  const std::string ending = std::filesystem::path(word).extension().string();
  for (const char* of_source : {".c", ".cc", ".cpp", ".cxx", ".cl", ".cu"}) {
    if (ending != of_source) continue;
    throw refused("'" + printable(word) + "' is a kernel's source, not a sweep or model", {},
                  "halmark judge " + word + " --op OP measures one; halmark study serve tunes it");
  }
  try {
    load_model(word, models);
  } catch (const Error&) {
    std::vector<std::string> names;
    std::error_code absent;
    for (const std::filesystem::path& folder : sweeps) {
      for (const auto& entry : std::filesystem::directory_iterator(folder, absent)) {
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem());
      }
    }
    const std::string near = suggestion(word, names);
    if (!near.starts_with("did you mean")) throw;
    throw refused("'" + printable(word) + "' is no sweep file (*.toml)", {}, near);
  }
}

std::unique_ptr<TunePlan> measured_plan(Sweep sweep, Target target, bool has_bf16,
                                        const Folders& models, const Folders& fabrics) {
  if (sweep.fused_qkv) {
    throw refused("fused_qkv is priced, and kernels of this sweep are measured", sweep.file,
                  "leave it out, or name sources of times: latency = [...]");
  }
  refuse_certify(sweep);
  sweep.measure.take(target.limits);
  target.asks_energy = contains(sweep.objectives, Objective::energy);
  // What is proved of a kernel is proved of it alone: certify keeps loops of their own.
  target.in_stack = sweep.measure.in_stack && sweep.sampler != certify_sampler;
  ModelSpec spec = load_model(sweep.model, models);
  spec.fuses_qkv = sweep.fused_qkv;
  const PrecisionFacts precisions = precision_facts(spec, has_bf16);
  const std::vector<std::int64_t> shards = shard_counts_on(target, sweep);
  if (!sweep.fabric.empty() && sweep.sampler == certify_sampler) {
    throw refused("certify proves what is measured, and a fabric is not", sweep.fabric_where,
                  "take another sampler, or leave the fabric out");
  }
  target.fabric = named_fabric(sweep.fabric, sweep.fabric_where, shards, fabrics);
  return std::make_unique<TunePlan>(std::move(sweep), std::move(spec), std::move(target), shards,
                                    precisions, true);
}

std::unique_ptr<TunePlan> priced_plan(const Sweep& sweep, Device device, const Folders& models,
                                      const Folders& fabrics, const NamedEngine& engine) {
  if (sweep.sampler == certify_sampler) {
    throw refused("certify measures kernels, and nothing is measured here", sweep.sampler_where,
                  "take another sampler, or leave --latency out");
  }
  if (contains(sweep.objectives, Objective::energy)) {
    throw refused("energy of a step is metered, and nothing is measured here", sweep.file,
                  "leave it out: halmark simulate says what a step draws");
  }
  if (sweep.shards.empty()) {
    throw refused("shards is not given", sweep.file,
                  "state numbers of devices: shards = [8, 16, 32]");
  }
  ModelSpec spec = load_model(sweep.model, models);
  spec.fuses_qkv = sweep.fused_qkv;
  const PrecisionFacts precisions = served_facts(spec, device, engine);
  Target target = priced_target(sweep, std::move(device));
  target.fabric = named_fabric(sweep.fabric, sweep.fabric_where, sweep.shards, fabrics);
  return std::make_unique<TunePlan>(sweep, std::move(spec), std::move(target), sweep.shards,
                                    precisions, false);
}

}  // namespace halmark::tune
