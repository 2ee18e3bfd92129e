// A simulated step as the document of `halmark simulate --json`, in parts.
#pragma once

#include "core/json/json_type.hpp"
#include "simulate/schedule/step_simulation.hpp"
#include "simulate/timeline/telemetry.hpp"

namespace halmark::schedule {

Json throughput_json(const StepSimulation& s);  // work, time, rates, MFU and HFU
Json latency_json(const StepSimulation& s);     // the step, its quantiles, one-time phases apart
Json schedule_json(const StepSimulation& s);    // what was simulated
Json links_json(const StepSimulation& s);       // that carried something
Json timeline_json(const StepSimulation& s);    // folded by label
// What telemetry of it says that it is of; shown from now on.
simulate::TelemetryOrigin telemetry_origin(const PricedStep& step);

Json critical_json(const StepSimulation& s);  // parts of the makespan, and of a device's time

}  // namespace halmark::schedule
