#include "model/serving/engine_step.hpp"

#include <algorithm>

#include "core/numeric/cast.hpp"

namespace halmark {
namespace {

// As LayoutTimes has it: a scale below one takes no kernel below what is possible.
double on_device(const EngineTerms& terms, double ns, double bound_ns) {
  const double scaled = terms.device_scale * ns;
  return terms.device_scale < 1 ? std::max(scaled, bound_ns) : scaled;
}

double host_ns(const EngineTerms& terms, const OperatorGraph& graph) {
  const Workload& load = graph.configuration.workload;
  const auto sequences = as_double(graph.micro_batch());
  const double prompt_tokens =
      load.phase == Phase::prefill ? sequences * as_double(load.new_tokens) : 0;
  return terms.whole_step_ns(0, sequences, prompt_tokens);
}

}  // namespace

EngineShare engine_share(const StepEngine& engine, const OperatorGraph& graph,
                         const KernelTime& step) {
  EngineShare out{.host_ns = host_ns(engine.terms, graph)};
  if (step.ns > 0) {
    out.device_factor = on_device(engine.terms, step.ns, step.lower_bound_ns) / step.ns;
  }
  return out;
}

KernelTime in_engine(const StepEngine& engine, const OperatorGraph& graph, const KernelTime& step) {
  const double host = host_ns(engine.terms, graph);
  KernelTime out = step;
  for (double* ns : {&out.ns, &out.low_ns, &out.high_ns}) {
    *ns = on_device(engine.terms, *ns, step.lower_bound_ns) + host;
  }
  if (graph.configuration.workload.phase != Phase::decode) return out;
  out.low_ns = std::max(step.lower_bound_ns, std::min(out.low_ns, engine.decode.low * out.ns));
  out.high_ns = std::max(out.high_ns, engine.decode.high * out.ns);
  return out;
}

void add_engine(const StepEngine& engine, const OperatorGraph& graph, Estimate& e) {
  const KernelTime kernels{e.step_ns, e.low_ns, e.high_ns, e.lower_bound_ns, true};
  const EngineShare share = engine_share(engine, graph, kernels);
  const KernelTime whole = in_engine(engine, graph, kernels);
  const double faster = kernels.ns / whole.ns;
  e.step_ns = whole.ns;
  e.low_ns = whole.low_ns;
  e.high_ns = whole.high_ns;
  e.tokens_per_s *= faster;
  if (e.mfu) *e.mfu *= faster;
  if (e.mfu_datasheet) *e.mfu_datasheet *= faster;
  if (e.alone) {
    for (double* ns : {&e.alone->ns, &e.alone->low_ns, &e.alone->high_ns}) {
      *ns = share.device_factor * *ns + share.host_ns;
    }
  }
  for (OperatorShare& op : e.operators) {
    for (double* ns : {&op.ns, &op.low_ns, &op.high_ns}) *ns *= share.device_factor;
  }
}

}  // namespace halmark
