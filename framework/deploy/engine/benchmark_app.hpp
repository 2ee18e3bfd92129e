// One decoder layer of a point, timed by OpenVINO's own benchmark app on this machine.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "core/chosen/deployment.hpp"
#include "core/measured/engine_step.hpp"
#include "model/spec/model_spec.hpp"
#include "report/views/view.hpp"

namespace halmark::deploy {

// benchmark_app in `folder`; with "" the first in PATH. Throws Error (exit 5) that says how to get
// it.
std::string benchmark_app(const std::string& folder);

struct CheckedLayer {
  std::string point_name, key;
  double predicted_ns = 0;  // of one layer: the operators of all, over their number
  std::string predicted_from;
  EngineStep measured;
  std::string command;
};

// Writes the layer among the temporary files, runs the app for seconds, reads its report.
// Throws Error (exit 2) for what is not written, (exit 5) with the app's own words where it fails,
// (exit 130) when it is to stop.
CheckedLayer check_layer(const ModelSpec& spec, const Deployment& deployment,
                         const std::string& app, const std::stop_token& stop);

report::View layer_view(const CheckedLayer& layer);

}  // namespace halmark::deploy
