// A simulated step as the page shows it: figures, what each link carries, and the events.
#pragma once

#include "core/json/json_type.hpp"
#include "pages/serve/state/composed_step.hpp"

namespace halmark::pages {

// Events that a page is sent at most; of more, one device of each stage.
inline constexpr std::size_t shown_events_max = 40'000, all_events_max = 250'000;

// {"figures": as of figures_json, "critical": {"compute_us", "communication_us", "other_us"},
// "critical_path": [{"label", "kind", "count", "us"}], "schedule", "load", "timeline"}: parts and
// schedule as `halmark simulate --json` has them. `shows_all`: the events of every device.
Json simulation_json(const PricedSystem& system, const ComposedStep& step,
                     const tune::StepOutcome& outcome, bool shows_all);

// {"figures": percentiles, "n", "has_intervals"} of steps with drawn times.
Json spread_json(const schedule::StepSimulation& simulation);

// {"actors", "labels", "resources": [{"name", "is_link"}], "kinds", "makespan_us", "left_out",
// "note", "events": [[start_us, end_us, label, actor, resource, kind, critical], ...]}.
Json timeline_events_json(const simulate::Timeline& timeline, std::size_t events_max);

}  // namespace halmark::pages
