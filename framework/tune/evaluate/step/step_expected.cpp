#include "tune/evaluate/step/step_expected.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "tune/evaluate/step/step_latencies.hpp"
#include "tune/evaluate/step/step_over_fabric.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/plan/named_fabric.hpp"

namespace halmark::tune {
namespace {

// The widest recipe that makes the step fit on as many devices, priced as the step is.
std::shared_ptr<PricedStep> narrower_step(const PricedStep& step) {
  const auto fit = fit_of(step);
  if (!fit || step.is_training() || fit->short_by_bytes() == 0) return nullptr;
  const Device& device = *step.device;
  const bool has_fp8 =
      std::ranges::find(device.peaks, Dtype::f8_e4m3fn, &Peak::dtype) != device.peaks.end();
  const PrecisionFacts facts = precision_facts(step.graph.spec, device);
  for (const std::string_view recipe : {has_fp8 ? "fp8" : "w8a16", "w4a16"}) {
    Configuration c = step.graph.configuration;
    c.precision = precision_of(recipe, facts);
    const auto built = build_graph(step.graph.spec, c);
    const OperatorGraph* graph = built.get();
    if (graph == nullptr || !fit_of(*graph, memory_use(*graph), device).is_usable()) continue;
    return std::make_shared<PricedStep>(
        price_step(step.graph.spec, c, step.device,
                   {.form = step.question.form, .engine = step.question.engine}));
  }
  return nullptr;
}

}  // namespace

void expect_times(PricedStep& step, const StepTimes& asked, const Folders& devices,
                  const Folders& fabrics) {
  if (const auto narrower = narrower_step(step)) {
    price_over_fabric(*narrower, asked.fabric, fabrics);
    expect_times(*narrower, asked, devices, fabrics);
    step.narrower = narrower;
  }
  const bool has_engine = step.question.engine.is_asked;
  if (asked.sources.empty() && !step.device && !has_engine) return;
  const auto sources = sources_or_default(asked.sources, step.is_training());
  const bool has_only_bounds = sources == std::vector<std::string>{"roofline"};
  // What a fabric says of an exchange is no bound; training has its gradients beside these.
  const bool has_exchanges = !asked.fabric.empty() && !step.is_training();
  if (has_only_bounds && step.device && !has_engine && !has_exchanges) return;
  const auto topology = named_fabric(asked.fabric, step.graph.configuration, fabrics);
  const StepLatencies times(step, sources, devices, topology ? &*topology : nullptr);
  std::vector<Latency> expected;
  for (const auto i : indices(step.graph.operators)) {
    auto latency = times.of_operator(i);
    // A device that lacks a figure has no bound of it either, and that is said.
    const bool is_known = latency && has_latency(latency->status);
    if (!is_known && asked.sources.empty() && !has_engine) return;
    if (!is_known) {
      throw refused("no source knows a time of '" + step.graph.operators[i].name + "'", "--latency",
                    "add roofline");
    }
    expected.push_back(*std::move(latency));
  }
  step.basis = times.sources();
  step.engine = times.engine();
  if (!times.has_expectation() && !step.engine) return;
  step.expected = std::move(expected);
}

}  // namespace halmark::tune
