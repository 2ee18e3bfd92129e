// A composed step as the page shows it: figures, each with its interval and where it is from,
// operators, layouts, memory.
#pragma once

#include <optional>

#include "core/json/json_type.hpp"
#include "pages/serve/document/figure.hpp"
#include "pages/serve/state/composed_step.hpp"

namespace halmark::pages {

// Figures that follow from the time of a step: latency, rates, MFU.
Json rates_json(const PricedStep& step, const StepTime& time, const Origin& from);
// These, and those that a simulation will say, without a value. [figure, ...]: a null `value`
// stands beside a reason; `from` says on what it rests, `means` what that word says.
// Behind them, where the reader's own step is given: its share of the best possible, as halmark
// model
// --measured-ms has it, and of the time that is shown.
Json figures_json(const PricedSystem& system, const ComposedStep& step,
                  std::optional<double> measured_ms);
// One row per operator that the slowest stage executes, in order.
Json operators_json(const ComposedStep& step);
// {"parts": [{"name", "bytes"}], "used", "device", "fits"} of the fullest rank.
Json memory_json(const PricedSystem& system, const ComposedStep& step);
// One row per layout, fastest first.
Json layouts_json(const std::vector<PricedLayout>& layouts, std::int64_t devices,
                  const Device& device);
// Where the chosen one stands among batches and layouts of up to so many devices: what a front is
// made of. Rows as of layouts_json.
Json candidates_json(PricedSystem& system, const PageState& state);

}  // namespace halmark::pages
