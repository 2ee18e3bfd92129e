// A pass is compared at its own sizes unless sizes were given; one that shows none says so.
#include "profile/comparison/model_comparison.hpp"

#include <algorithm>
#include <utility>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "model/graph/graph.hpp"
#include "model/pricing/plan_size.hpp"

namespace halmark::trace {
namespace {

OperatorGraph graph_or_refuse(const ModelSpec& spec, const Configuration& configuration) {
  auto built = build_graph(spec, configuration);
  if (const auto* refusal = built.why()) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  return *std::move(built);
}

ComparedPass sizes_of(const Attribution& attribution, std::uint32_t index,
                      const ComparedModel& model) {
  const TraceStage stage = attribution.passes[index].stage;
  const Workload& given = model.configuration.workload;
  ComparedPass out{.pass = index};
  if (stage == TraceStage::mixed) {
    out.reason = "prefill and decode are mixed";
  } else if (model.has_workload && stage != TraceStage::unknown &&
             stage_name(stage) != phase_name(given.phase)) {
    out.reason = "is " + std::string(stage_name(stage)) + ", " +
                 std::string(phase_name(given.phase)) + " was asked for";
  } else if (model.has_workload) {
    out.workload = given;
  } else {
    out.workload = workload_of(attribution, index, model.spec, model.configuration.parallel);
    if (!out.workload) {
      out.reason = "its attention does not tell batch and lengths; give --batch, --context";
    }
  }
  return out;
}

// Of the sizes that its attention shows, else of those that were given.
ComparedPass training_sizes(const Attribution& attribution, std::uint32_t index,
                            const ComparedModel& model) {
  ComparedPass out{.pass = index};
  out.workload = workload_of(attribution, index, model.spec, model.configuration.parallel);
  if (!out.workload) out.workload = model.configuration.workload;
  out.workload->phase = Phase::training;
  out.workload->new_tokens = out.workload->context =
      std::max(out.workload->new_tokens, out.workload->context);
  return out;
}

TrainingStep training_step(const Attribution& attribution, const ComparedPass& pass,
                           const ComparedModel& model) {
  TrainingStep out{.pass = pass.pass, .workload = *pass.workload};
  for (const OperatorRow& row : attribution.rows) {
    if (row.pass != pass.pass) continue;
    const OperatorCost& cost = attribution.cost_of(row);
    if (cost.flops) out.trace_flops += *cost.flops * as_double(row.count);
    const bool should_be_known =
        row.of == OperatorClass::matmul || row.of == OperatorClass::attention;
    if (!cost.flops && should_be_known) out.unknown += row.count;
  }
  const Workload& w = *pass.workload;
  const double tokens = as_double(w.batch) * as_double(w.context);
  out.model_flops = tokens *
                    training_flops_per_token(model.spec, model.configuration.precision, w.context) /
                    model.configuration.devices();
  return out;
}

}  // namespace

bool ModelComparison::is_equal() const {
  return comparison.count(Verdict::ok) == comparison.rows.size() && comparison.unexplained() == 0;
}

PassFlops ModelComparison::flops(std::uint32_t pass) const {
  PassFlops out;
  for (const ComparedRow& row : comparison.rows) {
    if (row.pass != pass) continue;
    if (!row.trace_flops || !row.scaled_flops || !row.model_flops) {
      ++out.unknown;
      continue;
    }
    out.trace += *row.trace_flops;
    out.model += *row.model_flops;
    out.scaled += *row.scaled_flops;
    out.whole += *row.whole_flops;
  }
  return out;
}

ModelComparison compare_model(const Recording& recording, const Attribution& attribution,
                              const ComparedModel& model, const TraceFilter& filter) {
  ModelComparison out;
  Configuration configuration = model.configuration;
  for (std::uint32_t i = 0; i < attribution.passes.size(); ++i) {
    if (filter.stage && attribution.passes[i].stage != *filter.stage) continue;
    if (configuration.workload.phase == Phase::training) {
      const ComparedPass& pass = out.passes.emplace_back(training_sizes(attribution, i, model));
      out.training.push_back(training_step(attribution, pass, model));
      continue;
    }
    const ComparedPass& pass = out.passes.emplace_back(sizes_of(attribution, i, model));
    if (!pass.workload) continue;
    configuration.workload = *pass.workload;
    compare_pass(recording, attribution, i, graph_or_refuse(model.spec, configuration),
                 model.tolerance, filter.layers, out.comparison);
  }
  const auto is_compared = [](const ComparedPass& pass) { return pass.workload.has_value(); };
  if (std::ranges::none_of(out.passes, is_compared)) {
    throw refused("no pass of the trace can be compared", recording.where,
                  "the trace needs shapes and modules (record_shapes, with_stack); --stage and the "
                  "sizes must be those of a pass");
  }
  return out;
}

}  // namespace halmark::trace
