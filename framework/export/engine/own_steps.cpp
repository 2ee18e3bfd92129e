#include "export/engine/own_steps.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/json/json.hpp"
#include "core/measured/engine_step.hpp"
#include "core/ranges.hpp"
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

bool is_near(std::int64_t tokens, std::int64_t asked) {
  return std::abs(tokens - asked) * 10 <= asked;  // within a tenth
}

// Whether it timed what the point is priced for: as many sequences of the same lengths.
bool has_same_sizes(const EngineStep& step, const Configuration& c) {
  if (step.batch != admission_of(c).sequences) return false;
  if (c.served) {
    return is_near(step.input_tokens, c.served->request.input_tokens) &&
           is_near(step.output_tokens, c.served->request.output_tokens);
  }
  if (c.workload.phase == Phase::decode) {
    return is_near(step.cached_tokens + step.input_tokens + step.output_tokens, c.workload.context);
  }
  return step.input_tokens == c.workload.new_tokens;
}

bool is_of_model(const EngineStep& step, const Deployment& d) {
  return step.model_id == d.configuration().model || contains(d.model_names, step.model_id);
}

}  // namespace

std::vector<OwnStep> own_steps(const Deployment& d, const std::string& engine,
                               std::span<const EngineImport> imports) {
  std::vector<OwnStep> out;
  for (const EngineImport& imported : imports) {
    for (const EngineStep& step : imported.steps) {
      if (step.engine != engine || !is_of_model(step, d)) continue;
      OwnStep own{
          .imported = &imported, .step = &step, .forecast_ns = forecast_of(d.point, step.phase)};
      own.is_of_point =
          own.forecast_ns && !step.device.empty() && has_same_sizes(step, d.configuration());
      out.push_back(own);
    }
  }
  return out;
}

std::vector<std::string> own_step_lines(const Deployment& d, const std::string& engine,
                                        std::span<const OwnStep> steps) {
  std::vector<std::string> out;
  const bool is_measured = std::ranges::any_of(steps, &OwnStep::is_of_point);
  if (!is_measured && d.forecast_engine == engine) {
    out.push_back("a forecast of " + engine +
                  ": kernels that others measured under it, and its overhead terms; halmark import "
                  "reads the engine's own benchmark");
  } else if (!is_measured) {
    // Both figures: Qwen3-0.6B, 8-bit weights, one sequence, on one guest with two cores.
    out.push_back(
        "no forecast of " + engine +
        ": times are of the kernels that it rests on (on one machine llama.cpp needed 32 ms a "
        "token where halmark's own kernels needed 17 ms); halmark import reads the "
        "engine's own benchmark, halmark deploy-check runs it");
  }
  for (const OwnStep& own : steps) {
    std::string line =
        engine + " itself: " + report::engine_step_text(*own.step) + "; " +
        report::origin_text(*own.imported, *own.step) +
        (own.step->device.empty() ? ", on what is not stated" : ", on " + own.step->device);
    if (own.is_of_point) {
      line += "; forecast here " + report::duration_text(*own.forecast_ns) + ", the engine needs " +
              report::significant_text(own.step->step_ns / *own.forecast_ns) + " times that";
    }
    out.push_back(std::move(line));
  }
  return out;
}

Json own_steps_json(std::span<const OwnStep> steps) {
  return json_list(steps, [](const OwnStep& own) -> Json {
    return {{"step", *own.step},
            {"imported_from", own.imported->tool},
            {"file", own.imported->file},
            {"file_sha256", own.imported->file_sha256},
            {"is_of_point", own.is_of_point},
            {"forecast_ns", optional_number(own.forecast_ns)},
            {"times_forecast",
             own.is_of_point ? Json(own.step->step_ns / *own.forecast_ns) : Json(nullptr)}};
  });
}

}  // namespace halmark::exports
