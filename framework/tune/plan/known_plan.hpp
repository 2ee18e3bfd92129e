// Plans from a sweep file's own words: its model by name, its recipes by what the device computes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/chosen/named_engine.hpp"
#include "plan/asked_sweep.hpp"
#include "plan/precision.hpp"
#include "tune/plan/named_fabric.hpp"
#include "tune/plan/plan.hpp"

namespace halmark::tune {

// What the recipes of plan/precision.hpp depend on, of a model and of what executes it.
PrecisionFacts precision_facts(const ModelSpec& spec, bool has_bf16);
PrecisionFacts precision_facts(const ModelSpec& spec, const Device& device);
// What recipes depend on where the engine serves: its cache beside narrow weights too.
PrecisionFacts served_facts(const ModelSpec& spec, const Device& device, const NamedEngine& engine);
// Why keys and values are as they are, where neither name nor checkpoint says it; "" elsewhere.
std::string cache_line(const Precision& precision, const PrecisionFacts& facts,
                       const NamedEngine& engine);

using Folders = std::vector<std::filesystem::path>;

// Throws Error (exit 2) for a model that answers no prompts: an encoder, or one beside a decoder.
void require_requests(const ModelSpec& spec);
// The same for requests that are longer than the model's positions, too.
void require_context(const ModelSpec& spec, std::int64_t input_tokens, std::int64_t output_tokens);

// The device that was named, with what the words leave to the model: the precision that its
// checkpoint states, and one of 4 bits where nothing wider fits on all devices together. Throws
// Error (exit 2) for an unknown model or device, and for requests longer than the model's
// positions.
Device asked_device(AskedSweep& asked, const Folders& models, const Folders& devices);

// Throws Error (exit 2) for a word that is no model, naming a shipped sweep of nearly that name.
void require_model(const std::string& word, const Folders& models, const Folders& sweeps);

// Of what is measured on `target`, whose limits hold where the sweep states none. Both throw as
// named_fabric does.
std::unique_ptr<TunePlan> measured_plan(Sweep sweep, Target target, bool has_bf16,
                                        const Folders& models, const Folders& fabrics);
// Of what is priced for `device`, alone or in the numbers that the sweep states. Throws Error
// (exit 2) for a sweep that states none, or that would certify.
// `engine`: that serves what the sweep asks of requests; no name = none.
std::unique_ptr<TunePlan> priced_plan(const Sweep& sweep, Device device, const Folders& models,
                                      const Folders& fabrics, const NamedEngine& engine = {});

}  // namespace halmark::tune
