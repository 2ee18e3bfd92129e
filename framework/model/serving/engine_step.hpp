// An engine around one step: what its terms (engine_terms.hpp) make of the kernels of a graph that
// is executed again and again, without requests that come and go.
#pragma once

#include <string>

#include "core/chosen/configuration.hpp"
#include "model/graph/graph.hpp"
#include "model/pricing/step_sum.hpp"
#include "model/serving/engine_terms.hpp"

namespace halmark {

struct StepEngine {
  std::string name, release;  // "vllm"; "" = of all its releases
  std::string source;         // what the terms were fitted on, as a report says it
  EngineTerms terms;
  Ratios decode;  // measured over predicted, 90 %, of the steps that give later tokens
};

// What the engine adds to a step whose kernels take `step`.
struct EngineShare {
  double device_factor = 1;  // of every kernel: what the engine makes of it beside the others
  double host_ns = 0;        // scheduler and host, once a step: the device waits
};
// Of one micro-batch of one replica: each has a batch of its own. Kernels together are not faster
// than their bound.
EngineShare engine_share(const StepEngine& engine, const OperatorGraph& graph,
                         const KernelTime& step);
// The whole step; its interval holds the engine's own ratios where it decodes.
KernelTime in_engine(const StepEngine& engine, const OperatorGraph& graph, const KernelTime& step);
// The same of a step that was composed of its kernels, with what follows from its time.
void add_engine(const StepEngine& engine, const OperatorGraph& graph, Estimate& estimate);

}  // namespace halmark
