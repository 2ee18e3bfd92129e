// Names of closed sets, what follows from a finished graph, and the one way to build one: checks
// first, so that the verbs of the builder may take divisible sizes for granted.
#include "model/graph/graph.hpp"

#include <algorithm>
#include <cassert>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "model/families/family.hpp"
#include "model/families/prediction.hpp"
#include "model/graph/builder.hpp"
#include "model/graph/context_split.hpp"

namespace halmark {

std::string_view operator_kind_name(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::embedding:
      return "embedding";
    case OperatorKind::linear:
      return "linear";
    case OperatorKind::attention:
      return "attention";
    case OperatorKind::routing:
      return "routing";
    case OperatorKind::experts:
      return "experts";
    case OperatorKind::head:
      return "head";
    case OperatorKind::norm:
      return "norm";
    case OperatorKind::elementwise:
      return "elementwise";
    case OperatorKind::quantize:
      return "quantize";
    case OperatorKind::collective:
      return "collective";
  }
  return "elementwise";
}

std::string_view split_name(Split split) {
  switch (split) {
    case Split::replicated:
      return "replicated";
    case Split::column:
      return "column";
    case Split::row:
      return "row";
    case Split::head:
      return "head";
    case Split::vocab:
      return "vocab";
    case Split::expert:
      return "expert";
    case Split::pipeline:
      return "pipeline";
    case Split::data:
      return "data";
    case Split::context:
      return "context";
  }
  return "replicated";
}

std::int64_t LayerCache::bytes(std::int64_t context, Side side) const {
  const std::int64_t tokens = tokens_max > 0 ? std::min(tokens_max, context) : context;
  return (constant_bytes.*side).constant() +
         tokens / tokens_per_entry * (entry_bytes.*side).constant();
}

std::int64_t OperatorGraph::micro_batch() const {
  const Workload& w = configuration.workload;
  if (w.micro_batch != 0) return w.micro_batch;
  return std::max<std::int64_t>(1, w.batch / configuration.parallel.dp / configuration.parallel.pp);
}

std::int64_t OperatorGraph::micro_batches() const {
  return configuration.workload.batch / configuration.parallel.dp / micro_batch();
}

std::vector<std::int32_t> OperatorGraph::stage_sequence(std::size_t stage) const {
  const Stage& cut = stages.at(stage);
  std::vector<std::int32_t> out;
  if (cut.has_embedding && embedding_type) out.push_back(*embedding_type);
  const auto first = layers.begin() + cut.first_layer;
  out.insert(out.end(), first, first + cut.layers);
  if (cut.has_head && head_type) out.push_back(*head_type);
  if (cut.has_head && prediction_type) {
    out.insert(out.end(), as_size(drafted), *prediction_type);
  }
  if (pipeline_type) out.push_back(*pipeline_type);
  return out;
}

bool OperatorGraph::is_prediction(const Operator& op) const {
  return prediction_type && op.layer_type == layer_types[as_size(*prediction_type)].name;
}

std::int64_t OperatorGraph::prediction_instances() const {
  return std::min(drafted, spec.prediction_modules);
}

namespace {

// Of every slot of a pipeline that a training step fills and drains, or that sequences pass token
// by token.
void warn_of_idle_stages(const OperatorGraph& graph, std::vector<std::string>& out) {
  const std::int64_t pp = graph.configuration.parallel.pp, passing = graph.micro_batches();
  if (passing >= pp) return;
  out.push_back("idle_stages: " + std::to_string(passing) + " micro-batches on pp " +
                std::to_string(pp) + ": no more than " + std::to_string(passing) +
                " stages work at once; a step takes at least the sum of all stages and hand-overs");
}

std::vector<std::string> warnings(const ModelSpec& spec, const Configuration& configuration) {
  std::vector<std::string> out;
  const int tp = configuration.parallel.tp;
  if (spec.vocab % tp != 0) {
    const std::int64_t padded = (spec.vocab + tp - 1) / tp * tp;
    out.push_back("vocab_padding: vocabulary " + std::to_string(spec.vocab) + " is padded to " +
                  std::to_string(padded) + " for tp " + std::to_string(tp));
  }
  const bool is_stated = !configuration.parallel.stages.empty();
  if (!is_stated && spec.layers % configuration.parallel.pp != 0) {
    out.push_back("uneven_stages: " + std::to_string(spec.layers) + " layers over pp " +
                  std::to_string(configuration.parallel.pp));
  }
  return out;
}

// Everything has passed its checks.
Result<OperatorGraph, Refusal> built(const ModelSpec& spec, const Configuration& configuration,
                                     const Speculation& speculation, const StepForm& form,
                                     ExpertRanks ranks = ExpertRanks::each) {
  const Family* family = find_family(spec.family);
  assert(family != nullptr && "load_model sets a family of the table");
  try {
    Configuration step = configuration;
    step.workload.new_tokens += speculation.drafted;
    GraphBuilder builder(spec, step, form, NewTokens::of_load, ranks);
    family->build(spec, builder);
    if (speculation.drafted > 0) {
      GraphBuilder drafter(spec, configuration, {}, NewTokens::one);
      prediction::emit(spec, drafter, *family);
      builder.set_prediction(std::move(drafter), speculation.drafted);
    }
    if (form.predicted > 0) {
      GraphBuilder predictor(spec, configuration, form);
      prediction::emit(spec, predictor, *family);
      builder.set_prediction(std::move(predictor), form.predicted);
    }
    OperatorGraph graph = builder.finish();
    graph.warnings = warnings(spec, configuration);
    warn_of_idle_stages(graph, graph.warnings);
    return graph;
  } catch (const Error& error) {
    // A contract refused one of its parameters: a type it does not compute in, or a size.
    return Refusal{"operator_refused", error.what()};
  }
}

}  // namespace

Result<OperatorGraph, Refusal> build_graph(const ModelSpec& spec,
                                           const Configuration& configuration) {
  return build_graph(spec, configuration, StepForm{});
}

Result<OperatorGraph, Refusal> build_graph(const ModelSpec& spec,
                                           const Configuration& configuration, const StepForm& form,
                                           ExpertRanks ranks) {
  if (auto refusal = check_configuration(spec, configuration)) return *refusal;
  if (auto refusal = check_form(spec, configuration, form)) return *refusal;
  if (auto refusal = prediction::check_trained(spec, configuration, form.predicted)) {
    return *refusal;
  }
  return built(spec, configuration, {}, form, ranks);
}

Result<OperatorGraph, Refusal> build_graph(const ModelSpec& spec,
                                           const Configuration& configuration,
                                           const Speculation& speculation) {
  if (auto refusal = check_configuration(spec, configuration)) return *refusal;
  if (auto refusal = prediction::check(spec, configuration, speculation)) return *refusal;
  return built(spec, configuration, speculation, {});
}

}  // namespace halmark
