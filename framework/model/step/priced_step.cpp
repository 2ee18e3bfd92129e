// What a step is asked must go with its phase: the refusals are those of the graph and of training.
#include "model/step/priced_step.hpp"

#include <algorithm>
#include <utility>

#include "core/text/error.hpp"
#include "model/utilisation/convention_graph.hpp"

namespace halmark {
namespace {

// Windows, or keys that attention selects itself: the mask is more than causal.
bool has_own_mask(const OperatorGraph& graph) {
  const FlopShape shape = flop_shape(graph);
  return shape.own_attention_flops > 0 ||
         std::ranges::any_of(shape.attention, [](const auto& layers) { return layers.window > 0; });
}

// A named preset speaks of training; a served step is one forward pass that needs the last logits.
Convention convention_of(const StepQuestion& asked, const PricedStep& step) {
  const bool is_training = step.is_training();
  Convention out = model_convention(is_training, has_own_mask(step.graph));
  if (!asked.convention.empty() && asked.convention != out.name) {
    out = convention_named(asked.convention);
    if (!is_training) {
      out.forward_backward = PassRule::forward;
      if (out.lm_head == HeadRule::all_positions) out.lm_head = HeadRule::last_position;
    }
  }
  // Every verified position needs its logits.
  if (step.graph.drafted > 0 && out.lm_head == HeadRule::last_position) {
    out.lm_head = HeadRule::all_positions;
  }
  if (is_training && step.training->lora_rank > 0) out.forward_backward = PassRule::lora;
  for (const std::string& assignment : asked.switches) set_switch(out, assignment);
  return out;
}

// Draft tokens are of decode, and training predicts them; a form other than the usual one is of
// steps over whole sequences.
Result<OperatorGraph, Refusal> asked_graph(const ModelSpec& spec,
                                           const Configuration& configuration,
                                           const StepQuestion& asked) {
  if (asked.drafted > 0 && configuration.workload.phase != Phase::training) {
    return build_graph(spec, configuration, Speculation{asked.drafted});
  }
  StepForm form = asked.form;
  form.predicted = asked.drafted;
  return build_graph(spec, configuration, form);
}

OperatorGraph graph_of(const ModelSpec& spec, const Configuration& configuration,
                       const StepQuestion& asked) {
  auto built = asked_graph(spec, configuration, asked);
  if (const auto* refusal = built.why()) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  return *std::move(built);
}

void price_training(PricedStep& step) {
  if (step.graph.configuration.workload.phase != Phase::training) return;
  step.training = step.question.training.value_or(
      TrainingPlan{.gradient = step.graph.configuration.precision.activation});
  if (const auto refusal = check_training(step.graph, *step.training)) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  step.cost = training_cost(step.graph, *step.training);
  step.training_stages = training_memory(step.graph, *step.training);
}

}  // namespace

std::int64_t PricedStep::memory_bytes() const {
  return is_training() ? largest(training_stages).total() : memory.largest.total();
}

PricedStep price_step(const ModelSpec& spec, const Configuration& configuration,
                      const std::optional<Device>& device, const StepQuestion& question) {
  PricedStep step{.question = question, .graph = graph_of(spec, configuration, question)};
  step.memory = memory_use(step.graph);
  step.device = device;
  if (const auto rate = question.tokens_per_s) {
    step.question.measured_ms = 1e3 * tokens_of(step) / *rate;
  }
  price_training(step);
  step.convention = convention_of(question, step);
  return step;
}

}  // namespace halmark
