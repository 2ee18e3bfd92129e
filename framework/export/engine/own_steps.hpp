// What an engine measured of itself beside the forecast of a point, and whose forecast that is not.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/chosen/deployment.hpp"
#include "core/json/json_type.hpp"
#include "core/measured/engine_step.hpp"

namespace halmark::exports {

// A step of the engine that is to run the point, with the point's model.
struct OwnStep {
  const EngineImport* imported = nullptr;
  const EngineStep* step = nullptr;
  bool is_of_point = false;           // its phase, batch and lengths too, on a device that is named
  std::optional<double> forecast_ns;  // that the point says of it
};
std::vector<OwnStep> own_steps(const Deployment& deployment, const std::string& engine,
                               std::span<const EngineImport> imports);

// One line each: the engine's own times and their origin; where none is of the point, first that
// its forecast is none of this engine.
std::vector<std::string> own_step_lines(const Deployment& deployment, const std::string& engine,
                                        std::span<const OwnStep> steps);
Json own_steps_json(std::span<const OwnStep> steps);

}  // namespace halmark::exports
