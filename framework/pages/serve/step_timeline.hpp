// One step as events: every operator of one rank per stage, one micro-batch behind the other.
#pragma once

#include "core/json/json_type.hpp"
#include "pages/serve/composed_step.hpp"
#include "simulate/timeline/timeline.hpp"

namespace halmark::pages {

inline constexpr std::size_t timeline_events_max = 200'000;

// Ranks of a stage do the same at the same time: the first of each is drawn, by the name that the
// fabric has for it. Throws Error (exit 2) for more events than the limit.
simulate::Timeline step_timeline(const PricedSystem& system, const ComposedStep& step);

// {"actors", "labels", "resources": [{"name", "is_link"}], "kinds", "makespan_us", "events":
// [[start_us, end_us, label, actor, resource, kind, critical], ...]}
Json timeline_json(const simulate::Timeline& timeline);

}  // namespace halmark::pages
