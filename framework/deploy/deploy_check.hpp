// A point's exported command, run on this machine with random weights: the engine's own step beside
// the one that was predicted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/chosen/deployment.hpp"
#include "core/measured/engine_step.hpp"
#include "export/engine/launch.hpp"
#include "export/request.hpp"
#include "model/spec/model_spec.hpp"
#include "report/views/view.hpp"

namespace halmark::deploy {

// The engine's server in a folder. Throws Error (exit 5) that says how to get it where `folder` is
// "" or has none.
std::string server_program(const std::string& folder);

struct PlannedCheck {
  Deployment deployment;
  exports::Launch launch;
};
// The point of that number (from 1); without one the first of each kind of step that the engine can
// run here. Throws Error (exit 2) where there is none, with the reason of the first that is not.
std::vector<PlannedCheck> plan_checks(const SearchedFront& front, std::optional<std::int64_t> point,
                                      const exports::EngineTable& table,
                                      const exports::DeploymentAt& deployment_at);

struct CheckedPoint {
  PlannedCheck planned;
  std::vector<std::string> added;  // to the exported command: what names the weights and the port
  double predicted_ns = 0, low_ns = 0, high_ns = 0;
  EngineStep measured;
};

struct CheckSettings {
  std::string program;  // of the server
  std::string device;   // this machine, in words
  std::stop_token stop;
  std::function<void(const std::string& what)> progress;
};
// One server per point, one after the other; the weights lie in the folder of temporary files
// meanwhile. Throws Error (exit 2) for architectures whose weights are not written, (exit 5) where
// the server does not do what it is asked, (exit 130) when it is to stop.
std::vector<CheckedPoint> check_points(const ModelSpec& spec,
                                       const std::vector<PlannedCheck>& planned,
                                       const CheckSettings& settings);

report::View check_view(const std::vector<CheckedPoint>& points);
// As what `halmark import` keeps of a benchmark.
EngineImport import_of(const std::vector<CheckedPoint>& points, const std::string& utc);

}  // namespace halmark::deploy
