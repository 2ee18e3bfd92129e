#include "export/engine/own_steps.hpp"

#include <algorithm>

#include "core/json/engine_step_json.hpp"
#include "core/json/json.hpp"
#include "core/text/text.hpp"
#include "report/text/quantity.hpp"
#include "report/views/engine_views.hpp"

namespace halmark::exports {
namespace {

// Of a served point the times of its requests; of a step the step itself.
std::optional<double> forecast_of(const Evaluation& point, const std::string& phase) {
  if (point.configuration.served) {
    if (phase == "decode") return objective_value(point, Objective::tpot);
    if (phase == "prefill") return objective_value(point, Objective::ttft);
    return std::nullopt;
  }
  if (!point.estimate || phase_name(point.configuration.workload.phase) != phase) {
    return std::nullopt;
  }
  return point.estimate->alone ? point.estimate->alone->ns : point.estimate->step_ns;
}

}  // namespace

std::vector<OwnStep> own_steps(const Deployment& d, const std::string& engine,
                               std::span<const EngineImport> imports) {
  std::vector<OwnStep> out;
  const std::int64_t batch = admission_of(d.configuration()).sequences;
  for (const EngineImport& imported : imports) {
    for (const EngineStep& step : imported.steps) {
      if (step.engine != engine || step.model_id != d.configuration().model) continue;
      OwnStep own{
          .imported = &imported, .step = &step, .forecast_ns = forecast_of(d.point, step.phase)};
      own.is_of_point = own.forecast_ns && step.batch == batch;
      out.push_back(own);
    }
  }
  return out;
}

std::vector<std::string> own_step_lines(const std::string& engine, std::span<const OwnStep> steps) {
  std::vector<std::string> out;
  if (std::ranges::none_of(steps, &OwnStep::is_of_point)) {
    // Both figures: Qwen3-0.6B, 8-bit weights, one sequence, on one guest with two cores.
    out.push_back("no forecast of " + engine +
                  ": times are of the kernels named above (on one machine llama.cpp needed 32 ms a "
                  "token where halmark's own kernels needed 17 ms); halmark import reads the "
                  "engine's own benchmark, halmark deploy-check runs it");
  }
  for (const OwnStep& own : steps) {
    std::string line = engine + " itself: " + report::engine_step_text(*own.step) + "; " +
                       report::origin_text(*own.imported, *own.step) +
                       (own.step->device.empty() ? "" : ", on " + own.step->device);
    if (own.is_of_point) {
      line += "; forecast here " + report::duration_text(*own.forecast_ns) + ", the engine needs " +
              report::significant_text(own.step->step_ns / *own.forecast_ns) + " times that";
    }
    out.push_back(std::move(line));
  }
  return out;
}

Json own_steps_json(std::span<const OwnStep> steps) {
  Json out = Json::array();
  for (const OwnStep& own : steps) {
    out.push_back({{"step", *own.step},
                   {"imported_from", own.imported->tool},
                   {"file", own.imported->file},
                   {"file_sha256", own.imported->file_sha256},
                   {"is_of_point", own.is_of_point},
                   {"forecast_ns", optional_number(own.forecast_ns)},
                   {"times_forecast",
                    own.is_of_point ? Json(own.step->step_ns / *own.forecast_ns) : Json(nullptr)}});
  }
  return out;
}

}  // namespace halmark::exports
