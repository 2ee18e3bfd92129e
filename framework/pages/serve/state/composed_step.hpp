// The state that the page shows: its graph, what its operators take and its memory, made once for
// every part of the page.
#pragma once

#include "core/latency.hpp"
#include "model/step/priced_step.hpp"
#include "pages/serve/state/priced_system.hpp"
#include "tune/requests/step_request.hpp"
#include "tune/simulate/simulate_step.hpp"

namespace halmark::pages {

// From the begin of a step to its end, when nothing stands before or behind it: what `halmark
// simulate` calls the step.
struct StepTime {
  double ns = 0, low_ns = 0, high_ns = 0;
  bool is_simulated = false;  // event by event; else the sum that events come to without a pipeline
};

struct ComposedStep {
  PricedStep priced;
  // Sums over the operators of the slowest stage. step_ns: of a stream of steps that follow each
  // other; of training the step alone.
  Estimate estimate;
  StepTime time;
  const OperatorGraph& graph() const { return priced.graph; }
};

// Beyond this a step takes too long to be simulated while a slider moves, or at all.
inline constexpr double quick_events_max = 3e5, page_events_max = 3e6;

// Throws Error (exit 2) for a split that the model refuses, where a kernel has no time, and for a
// training step of more events than the page simulates. A step that does not fit the memory is
// priced all the same: the page says that it does not fit.
ComposedStep composed_step(const PricedSystem& system, const PageState& state,
                           const Configuration& configuration);

// The other way: the page around a step that was asked for. `order`: of a training step's passes.
PageState stepped_page(const PricedStep& step, const tune::StepRequest& asked,
                       const std::string& order);

struct SimulatedAs {
  schedule::Grain grain = schedule::Grain::kernel;
  std::optional<int> runs = 0;  // with drawn times; nothing: as many as halmark simulate takes
  double events_max = page_events_max;  // of one run
};

// What `halmark simulate` makes of the state; nothing where it has more events than that.
std::optional<tune::StepOutcome> simulated(const PricedSystem& system, const PageState& state,
                                           const PricedStep& step, const SimulatedAs& as);

}  // namespace halmark::pages
