// Terms of engines as they were fitted to published measurements: data with their source, one file
// per engine, configs/engines/ENGINE/serving_terms.json.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/chosen/named_engine.hpp"
#include "model/spec/model_spec.hpp"
#include "simulate/serving/terms_fit.hpp"

namespace halmark::serving {

struct FittedTerms {
  std::string engine;              // "sglang", "trtllm", "vllm"
  std::string release;             // "1.2.0rc6.post2"; "" = of all of them
  std::string asked_release = {};  // has too few rows of its own where it is not `release`
  std::string model;  // id; "" = of all its series, for models without one of their own
  SeriesTerms series;
  Ratios ttft, tpot;              // of servers whose requests all fit into the cache
  Ratios full_ttft, full_tpot;    // of the others, all models of the engine
  bool is_full = false;           // ttft and tpot hold those too
  Ratios apart_ttft, apart_tpot;  // of servers whose prompts have workers of their own, all models
  double apart_ns = 0;            // more of their way to the queue and back
  bool is_apart = false;          // the terms and ratios are those
  double launch_ns = 0;           // of a kernel that no table has, in a captured graph, at least
  std::string rows;               // "80 rows of vllm 0.19.0 on b200, h200"
  std::string source;
  // Of a device that has no rows, ratios are those of devices left out in turn.
  bool is_of_device = true;
};

// That terms were fitted of, by name.
std::vector<std::string> fitted_engines();
// Of the engine with the model, else of the engine. `device`: id; its rows decide the ratios.
// `release`: counts where the model has a set of it on the device.
// Throws Error (exit 2) with the known engines, and for a file that holds no terms.
FittedTerms fitted_terms(std::string_view engine, std::string_view model, std::string_view device,
                         std::string_view release = {});
// The same of a model by any of its names: those of a sibling of the same shape are its own.
FittedTerms fitted_terms(std::string_view engine, const ModelSpec& spec, std::string_view device,
                         std::string_view release = {});
// What servers of the engine were published with beside weights in narrow floats: the type of their
// keys and values; nothing where that is what engines take by themselves, the checkpoint's or 16
// bits.
std::optional<Dtype> served_cache(const NamedEngine& engine, const ModelSpec& spec,
                                  const Device& device);
// The engine around the steps of a served load.
ServingEngine engine_of(const FittedTerms& terms);
// With the ratios of a server whose cache does not hold all its requests: who waits for whom is
// known worse.
FittedTerms of_full_cache(FittedTerms terms);
// Of a server whose prompts have workers of their own: with the way between them that the terms,
// which saw none, lack, and ratios of such.
FittedTerms of_disaggregated(FittedTerms terms);
// What they were fitted on, as a report says it.
std::string source_text(const FittedTerms& terms);

// Requests of a closed loop that the cache holds at a time in steady state, the setting included:
// each has its prompt and on average half of its output, or all of it where that is reserved.
std::int64_t requests_held(const EnginePlan& plan, const RequestShape& shape);

}  // namespace halmark::serving
